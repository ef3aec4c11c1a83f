#include "core/vocab/tok_hf.h"

int hf_convert(struct hf *h)
{
	return err_set(h->err, HFGGUF_NOT_FOUND, "%s has no tokenizer.json", h->dir);
}

int hf_convert_post(struct hf *h)
{
	(void)h;
	return 0;
}
