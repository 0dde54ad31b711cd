"""How ``inert scan`` looks at files: where pickles are (look.py, zips.py, streams.py, others.py), and what they ask for (judging.py,
calls.py)."""
