"""How alike people are: by WordNet, by terms that occur together, or by documents."""
