"""The figures and claims of Carpineto & Romano: indices of a log by k, and by what is released."""
