"""How topical webs are made, one file for each thing that is drawn: pages, links, words, addresses, topics."""
