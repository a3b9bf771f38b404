"""Rankings judged by the own profile, the log of their AP, and topics and runs in TREC's form."""
