"""Languages, marks, joining and splitting words, features of words."""
