"""Profiles in, release out: the anonymizer, a library that knows no search engine and no web.

query log ─▶ profiles ─▶ augmented profiles ─▶ groups ─▶ representatives
querylog.py  profiles.py  augment.py           methods/   representative.py
                                                   └───────┬───────┘
                                                        Release   ← the only thing that leaves
                                                           │
query ─▶ pool ─▶ ─────────────────────────────────▶ re-rank ─▶ average precision
         index/lucene.py                            rerank.py  evaluation.py
"""
