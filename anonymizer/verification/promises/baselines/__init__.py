"""What the methods to compare with state of themselves, recounted; most promise nothing."""

from . import dp_rows, global_row, own_rows, random_k, topic_rows

BASELINES = (
    dp_rows.JUDGE,
    topic_rows.JUDGE,
    random_k.JUDGE,
    global_row.JUDGE,
    own_rows.JUDGE,
)
