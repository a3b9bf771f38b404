"""What an advertiser would pay for terms: read from a table, or invented."""
