"""(k,m)-anonymity, how it is reached: which terms are deleted, by greed or by insertion."""
