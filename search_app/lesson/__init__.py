"""What an audience turns and plays: a person's search at every stop from own profile to nobody."""
