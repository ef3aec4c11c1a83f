/* Every projector class, in no particular order: ROW(variable). Adding one is a line here and its file. */
ROW(media_flamingo)
ROW(media_glmasr)
ROW(media_internvl)
ROW(media_meralion)
ROW(media_qwen3tts)
ROW(media_ultravox)
ROW(media_voxtral)
ROW(media_whisper)
