"""The verbs of the command line, one file each with `add_arguments` and `run`.

Their modules import nothing heavy at the top, so that --help stays fast.
"""

VERBS = {
    "demo": "build the embedded demo and serve it",
    "doctor": "check Java, WordNet, disk, memory and the workspace",
    "index": "build an index from a corpus, add to it or delete from it",
    "town": "write the synthetic town's query log and its truth",
    "profiles": "turn a query log into profiles",
    "anonymize": "turn profiles into a release",
    "search": "answer a query or a file of topics, personalized or not",
    "serve": "serve the web pages",
}
