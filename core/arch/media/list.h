/* Every projector class, in no particular order: ROW(variable). Adding one is a line here and its file. */
ROW(media_internvl)
