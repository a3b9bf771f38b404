"""Methods to compare others with: noisy rows of differential privacy, and rows without promise."""

from . import dp_rows, global_row, own_rows, random_k, topic_rows

BASELINES = (
    dp_rows.METHOD,
    topic_rows.METHOD,
    random_k.METHOD,
    global_row.METHOD,
    own_rows.METHOD,
)
