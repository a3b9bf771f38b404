"""The verbs of the command line, one file each with `add_arguments` and `run`.

Their modules import nothing heavy at the top, so that --help stays fast.
"""

VERBS = {
    "demo": "build the embedded demo and serve it",
    "doctor": "check Java, WordNet, disk, memory and the workspace",
    "index": "build an index from a corpus, add to it or delete from it",
    "town": "write the synthetic town's query log and its truth",
    "profiles": "turn a query log into profiles",
    "marketing": "invent a marketing table for the terms of profiles",
    "anonymize": "turn profiles into a release",
    "use": "make a release the one that is served",
    "admit": "give people who came later rows of their own, as a new cohort",
    "verify": "check a release's promises against the profiles it was made from",
    "measure": "measure a release: linkability, terms and value kept, similarity to profiles",
    "sensitivity": "train a classifier of sensitive queries, and label logs by it",
    "attack": "attack a release, and raw profiles as a control, and compare with its promise",
    "publish": "write the public part of a release, if it passes verify",
    "forget": "take a person, or some of their terms, out of the workspace",
    "search": "answer a query or a file of topics, with or without personalization",
    "experiment": "run a paper's experiment on your own log and corpus",
    "evaluate": "measure how close rankings come to the own-profile order, and how sure that is",
    "codes": "make, list and revoke the codes by which people sign in, and tokens of scripts",
    "study": "lead a user study that compares ways to order results",
    "backup": "copy the workspace into one file, while it is served",
    "restore": "make a workspace from a backup",
    "serve": "serve the web pages",
    "mcp": "let an assistant search, by the Model Context Protocol on stdin and stdout",
    "bench": "measure speed next to its bars, in a checkout",
}
