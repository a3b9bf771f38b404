"""Topics: clusters of vectors over terms, by k-means."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ...arrays import Ints
from ...errors import Unsatisfiable

_STARTS = 4  # k-means keeps the best of them
_DECIMALS = 12


def topics_of(vectors: csr_matrix, count: int, seed: int) -> Ints:
    """Return the topic of each of `vectors`, of `count` topics, or fewer if vectors are alike."""
    if count == 1:
        return np.zeros(vectors.shape[0], dtype=np.int64)
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import normalize

    # Of unit vectors the distance depends on the cosine alone, as search does. Centres are dense,
    # so terms that no vector has would cost much.
    points = normalize(vectors[:, np.unique(vectors.indices)]).sorted_indices()
    ends = zip(points.indptr[:-1].tolist(), points.indptr[1:].tolist(), strict=True)
    different = {
        points.indices[low:high].tobytes() + points.data[low:high].tobytes() for low, high in ends
    }
    if count > points.shape[0]:
        raise Unsatisfiable(
            f"{points.shape[0]} profiles or documents make no {count} topics; take fewer rows"
        )
    # With more clusters than points k-means warns, and makes some that are empty.
    clusters = KMeans(min(count, len(different)), n_init=_STARTS, random_state=seed % 2**32)
    topics = np.unique(clusters.fit_predict(points), return_inverse=True)[1]
    return topics.astype(np.int64)


def places(people: int, topics: int) -> Ints:
    """Return for how many of `people` there is a place in each topic: equally many.

    The last ones have perhaps one more.
    """
    room = np.full(topics, people // topics, dtype=np.int64)
    room[topics - people % topics :] += 1
    return room


def shared_out(closeness: np.ndarray, room: Ints) -> Ints:
    """Return a topic for each person, close by `closeness` (people x topics).

    Topic i gets room[i] people, which are all people together.
    """
    people, topics = closeness.shape
    room = room.copy()
    topic_of = np.full(people, -1, dtype=np.int64)
    # The closest pairs choose first; of equal ones the first person, then the first topic.
    for pair in np.argsort(-np.round(closeness, _DECIMALS), axis=None, kind="stable").tolist():
        person, topic = divmod(pair, topics)
        if topic_of[person] < 0 and room[topic]:
            topic_of[person] = topic
            room[topic] -= 1
    return topic_of
