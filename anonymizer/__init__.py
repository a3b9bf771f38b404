"""Profiles in, release out: the anonymizer, a library that knows no search engine and no web.

query log ─▶ profiles ─▶ similarities ─▶ groups ─▶ rows
querylog/    profiles/    similarity/     grouping/   rows/
                                           └────┬─────┘
                            methods/ choose ─▶ Release   ← the only thing that leaves
                                                │
query ─▶ pool ─▶ ──────────────────────────▶ re-rank ─▶ average precision
        index/lucene/                        search/    evaluation/
"""
