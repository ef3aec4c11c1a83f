/* core/gguf/metadata: model ids, model cards, what overrides what, file names. Expectations are the reference's. */
#include "core/gguf/metadata_parts.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/hfgguf-metadata-XXXXXX";

static void put_file(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f)
		return;
	fputs(text, f);
	fclose(f);
}

/* The key-value list as "key=value" words: short keys, lists in brackets. */
static void show(struct buf *b, const struct kv_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct kv *e = &l->v[i];
		const struct text *t = e->items;

		buf_printf(b, "%s%s=", i ? "|" : "", e->key + strlen("general."));
		if (e->type == KV_STRING)
			buf_add(b, e->v.s.p, e->v.s.n);
		else if (e->type == KV_F32)
			buf_printf(b, "%g", e->v.f);
		else if (e->type != KV_ARRAY)
			buf_printf(b, "%lld", (long long)e->v.i);
		for (size_t k = 0; k < e->n; k++) {
			buf_putc(b, k ? ',' : '[');
			if (e->item == KV_STRING)
				buf_add(b, t[k].p, t[k].n);
			else if (e->item == KV_I32)
				buf_printf(b, "%d", ((const int32_t *)e->items)[k]);
			else
				buf_puts(b, e->item == KV_BOOL ? "bool" : "float");
		}
		buf_puts(b, e->n ? "]" : "");
	}
}

struct model {
	const char *name, *readme, *config, *generation, *override, *override_path, *model_name;
	struct param_count params;
	const char *kv, *stem; /* expected; stem for Q8_0 */
	size_t n_notes;
};

static bool same(const char *what, const char *want, const char *have)
{
	if (have && !strcmp(want, have))
		return true;
	tap_note("%s: want %s", what, want);
	tap_note("%s: have %s", what, have ? have : "(nothing)");
	return false;
}

static bool compare(const struct model *t, const struct metadata *m, struct arena *a)
{
	struct buf b = BUF_INIT;
	const char *const *notes;
	struct kv_list l;
	bool good;

	kv_init(&l, a, "test");
	metadata_emit(m, &l);
	show(&b, &l);
	good = same("keys", t->kv, b.p ? b.p : "");
	if (t->stem)
		good &= same("file name", t->stem, metadata_file_stem(m, true, "q8_0", NULL, a));
	if (metadata_notes(m, &notes) != t->n_notes) {
		tap_note("%zu notes", metadata_notes(m, &notes));
		good = false;
	}
	buf_free(&b);
	kv_free(&l);
	return good;
}

static bool check_model(const struct model *t)
{
	struct source_options opt = { .no_weights = true };
	struct err err = ERR_INIT;
	struct arena *a = arena_new();
	struct source *src;
	struct metadata *m = NULL;
	char dir[256], override[300];
	bool good = false;

	snprintf(dir, sizeof(dir), "%s/%s", root, t->name);
	snprintf(override, sizeof(override), "%s.json", dir);
	mkdir(dir, 0777);
	if (t->readme)
		put_file(dir, "README.md", t->readme);
	put_file(dir, "config.json", t->config ? t->config : "{}");
	if (t->generation)
		put_file(dir, "generation_config.json", t->generation);
	if (t->override)
		put_file(root, override + strlen(root) + 1, t->override);
	src = source_open(dir, &opt, &err);
	if (src)
		m = metadata_load(src, t->override ? override : t->override_path, t->model_name, &t->params, a, &err);
	if (m)
		good = compare(t, m, a);
	else
		tap_note("%s", err.msg);
	source_close(src);
	arena_free(a);
	return good;
}

static void test_models(void)
{
	static const struct model plain = {
		.name = "Tiny-7B-Instruct-v0.2", .params = { 7000000000, 0, 0, 0 },
		.kv = "name=Tiny 7B Instruct v0.2|version=v0.2|finetune=Instruct|basename=Tiny|size_label=7B",
		.stem = "Tiny-7B-Instruct-v0.2-Q8_0",
	};
	static const struct model context = {
		.name = "phi-3-mini-4k-instruct", .params = { 127000, 0, 0, 0 },
		.kv = "name=Phi 3 Mini 4k Instruct|finetune=4k-instruct|basename=phi-3|size_label=mini",
		.stem = "phi-3-mini-4k-instruct-Q8_0",
	};
	static const struct model experts = {
		.name = "model", .params = { 1000, 400000, 800000, 8 }, .kv = "name=Model|size_label=8x1.2M",
		.stem = "Model-8x1.2M-Q8_0",
	};
	static const struct model card = {
		.name = "a",
		.readme = "---\nlicense: [mit, apache-2.0]\nlanguage:\n- en\n- no\ntags: x\npipeline_tag: y\n"
			  "base_model: org/Base-7B-v1\ndatasets: https://huggingface.co/d/set\n---\n# no: yaml",
		.kv = "name=A|license=mit,apache-2.0|base_model.count=1|base_model.0.name=Base 7B v1|"
		      "base_model.0.version=v1|base_model.0.organization=Org|"
		      "base_model.0.repo_url=https://huggingface.co/org/Base-7B-v1|"
		      "dataset.count=1|dataset.0.name=Set|dataset.0.organization=D|"
		      "dataset.0.repo_url=https://huggingface.co/d/set|tags=[x,y]|languages=[en,no]",
	};
	static const struct model path = {
		.name = "b", .config = "{\"_name_or_path\": \"/data/models/llama-7b\"}", .kv = "name=B",
	};
	static const struct model config = {
		.name = "c", .config = "{\"_name_or_path\": \"meta-llama/Llama-2-7b-hf\"}",
		.kv = "name=Llama 2 7b Hf|organization=Meta Llama|finetune=hf|basename=Llama-2|size_label=7B",
	};
	static const struct model samplers = {
		.name = "d",
		.generation = "{\"top_k\": 0, \"top_p\": null, \"temperature\": 1, \"repetition_penalty\": 1.5}",
		.kv = "sampling.top_k=0|sampling.temp=1|sampling.penalty_repeat=1.5|name=D",
	};
	static const struct model odd_samplers = {
		.name = "d2",
		.generation = "{\"top_k\": 1.5, \"mirostat\": 2.0, \"temperature\": \"hot\", \"sequence\": 5}",
		.kv = "sampling.sequence=5|sampling.mirostat=2|name=D2", .n_notes = 3,
	};
	static const struct model broken_generation = { .name = "e", .generation = "{", .kv = "name=E" };

	ok(check_model(&plain), "takes a directory's name apart");
	ok(check_model(&context), "knows a context length from a size by the number of parameters");
	ok(check_model(&experts), "makes the size label from the parameters when no name has one");
	ok(check_model(&card), "reads licenses, languages, tags, base models and datasets of a model card");
	ok(check_model(&path), "does not take a path in _name_or_path for a name");
	ok(check_model(&config), "takes _name_or_path before the directory's name");
	ok(check_model(&samplers), "writes samplers, zeros too, but no nulls");
	ok(check_model(&odd_samplers), "tells which samplers are no numbers or not written as they stand");
	ok(check_model(&broken_generation), "goes on without an invalid generation_config.json");
}

static void test_override(void)
{
	static const struct model all = {
		.name = "f-7b", .readme = "---\nname: Card\nlicense: mit\n---\n", .model_name = "Option",
		.override = "{\"general.name\": \"File\", \"general.license\": \"no\", \"general.author\": \"A\","
			    " \"general.base_models\": [{\"name\": \"N\"}], \"general.tags\": \"ab\"}",
		.kv = "name=Option|author=A|finetune=7b|basename=f|size_label=0.10K|license=mit|"
		      "base_model.count=1|base_model.0.name=N|"
		      "tags=[a,b]",
		.params = { 100, 0, 0, 0 }, .stem = "f-0.10K-7b-Q8_0",
	};
	static const struct model missing = {
		.name = "r", .override_path = "/nonexistent/metadata.json", .kv = "name=R", .n_notes = 1,
	};
	static const struct model null = {
		.name = "g-7b",
		.override = "{\"general.name\": null, \"general.basename\": null, \"general.size_label\": null}",
		.kv = "name=g-7b",
	};

	ok(check_model(&missing), "tells that the metadata file is not there, and goes on");
	ok(check_model(&all), "the metadata file changes all but the license, and model-name the name");
	ok(check_model(&null), "a null in the metadata file takes a value away");
}

static void test_odd_cards(void)
{
	static const struct model version = {
		.name = "h", .readme = "---\nmodel_version: 1.10\nname: no\n---\n", .kv = "version=1.10", .n_notes = 1,
	};
	static const struct model tags = {
		.name = "i", .readme = "---\ntags: [2024, 1]\n---\n", .kv = "name=I|tags=[2024,1]",
	};
	static const struct model mixed = {
		.name = "j", .readme = "---\ntags: [2024, a, yes, 2024-01-02]\n---\n",
		.kv = "name=J|tags=[2024,a,yes,2024-01-02]", .n_notes = 1,
	};
	static const struct model invalid = { .name = "k", .readme = "---\na: [\n---\n", .kv = "name=K", .n_notes = 1 };
	static const struct model bomb = {
		.name = "l",
		.readme = "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n"
			  "c: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\n"
			  "e: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e]\n---\n",
		.kv = "name=L", .n_notes = 1,
	};
	static const struct model self = {
		.name = "m", .readme = "---\ntags: &a [*a]\nlicense: &l mit\nlicense_name: *l\n---\n",
		.kv = "name=M|license=mit|license.name=mit", .n_notes = 1,
	};
	static const struct model windows = {
		.name = "n", .readme = "---\r\ntags:\r\n-\ta\r\ndescription: >\r\n  one\r\n  two\r\n---\r\n",
		.kv = "name=N|description=one two\n|tags=[a]",
	};
	static const struct model kept = {
		.name = "s", .readme = "---\nauthor: |+\n  one\n\n---\n", .kv = "name=S|author=one\n\n",
	};
	static const struct model none = { .name = "o", .readme = " ---\nlicense: mit\n---\n", .kv = "name=O" };

	ok(check_model(&version), "a version that YAML takes for a number is written, a false name is not");
	ok(check_model(&tags), "tags that are all integers stay integers");
	ok(check_model(&mixed), "tags of several types are written as texts");
	ok(check_model(&invalid), "a card that is not YAML is left out with a note");
	ok(check_model(&bomb), "aliases that multiply are left out with a note");
	ok(check_model(&self), "a list that holds itself does no harm");
	ok(check_model(&windows), "reads carriage returns, tabs and folded texts");
	ok(check_model(&kept), "the last text of a card keeps its line breaks and gets no more");
	ok(check_model(&none), "a card without front matter is none");
}

static void test_ids(void)
{
	static const struct {
		const char *id;
		int64_t total;
		const char *want; /* org, base name, fine-tune, version, size */
	} t[] = {
		{ "meta-llama/Llama-2-7b-chat-hf", 0, "meta-llama Llama-2 chat-hf - 7B" },
		{ "bloom-7b1", 0, "- bloom - - 7.1B" },
		{ "Mixtral-8x7B-Instruct-v0.1", 0, "- Mixtral Instruct v0.1 8x7B" },
		{ "Qwen3-30B-A3B", 0, "- Qwen3 - - 30B-A3B" },
		{ "Base-32k-7B", 7000000000, "- Base 32k - 7B" },
		{ "x-7b-lora", -1000000, "- x - - 7B" },
		{ "x-7b-lora", 7000000000, "- x lora - 7B" },
		{ "./x-7b", 0, "- x - - 7B" },
		{ "x-Q4_K_M-7b-7B", 0, "- x - - 7B" },
		{ "x-large-7b", 0, "- x-large - - 7B" },
		{ "name only 7b", 0, "- - - - -" },
		{ "plain", 0, "- - - - -" },
		{ "", 0, "- - - - -" },
		{ "a\xC2\xA0-7\xE2\x84\xAA", 0, "- a\xC2\xA0 - - 7\xE2\x84\xAA" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct metadata m = { .arena = arena_new(), .total_params = t[i].total };
		struct model_id id = model_id_parse(&m, (struct text){ t[i].id, strlen(t[i].id) });
		struct text parts[] = { id.org, id.basename, id.finetune, id.version, id.size_label };
		struct buf b = BUF_INIT;

		for (size_t k = 0; k < 5; k++) {
			buf_puts(&b, k ? " " : "");
			buf_puts(&b, parts[k].p ? "" : "-");
			if (parts[k].p)
				buf_add(&b, parts[k].p, parts[k].n);
		}
		ok(same(t[i].id, t[i].want, b.p), "takes apart the id \"%s\"", t[i].id);
		buf_free(&b);
		arena_free(m.arena);
	}
}

static void test_titles(void)
{
	static const char *const t[][2] = {
		{ "  llama-2 chat--hf ", "Llama 2 Chat Hf" }, { "GPT-neoX", "GPT neoX" },
		{ "v1.5-v2x-7b", "v1.5 V2X 7b" },             { "it's-\xC3\xA9t\xC3\xA9", "It'S \xC3\x89t\xC3\xA9" },
		{ "\xEF\xAC\x81x", "Fix" },
	};
	struct metadata m = { .arena = arena_new() };

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		ok(same("title", t[i][1], id_to_title(&m, (struct text){ t[i][0], strlen(t[i][0]) }).p),
		   "writes \"%s\" in title case", t[i][0]);
	arena_free(m.arena);
}

static void test_labels(void)
{
	static const struct {
		struct param_count n;
		const char *want;
	} t[] = {
		{ { 0, 0, 0, 0 }, "0.00K" },
		{ { 495, 0, 0, 0 }, "0.49K" },
		{ { 999, 0, 0, 0 }, "1.0K" },
		{ { 9500, 0, 0, 0 }, "10K" },
		{ { 1000000, 0, 0, 0 }, "1000K" },
		{ { 1000001, 0, 0, 0 }, "1.0M" },
		{ { -7000000000, 0, 0, 0 }, "7.0B" },
		{ { 5, 3000000000, 44000000000, 8 }, "8x47B" },
		{ { 1000000000001, 0, 0, 0 }, "1.0T" },
	};
	struct arena *a = arena_new();

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		ok(same("label", t[i].want, size_label(&t[i].n, a)), "%lld parameters are %s", (long long)t[i].n.total,
		   t[i].want);
	arena_free(a);
}

static void test_patterns(void)
{
	struct arena *a = arena_new();
	struct err err = ERR_INIT;

	ok(same("name", "x-bf16-BF16-{}.gguf", metadata_fill_name("x-{ftype}-{OUTTYPE}-{{}}.gguf", "BF16", a)),
	   "fills in the output type");
	ok(same("name", "f16-{}-{name}", metadata_fill_name("{}-{}-{name}", "F16", a)), "leaves unknown braces alone");
	ok(!metadata_check_name("{}{ftype}{{", &err) && metadata_check_name("a{size}", &err) == HFGGUF_OPTION &&
		   strstr(err.msg, "'{size}'"),
	   "refuses an unknown placeholder by name");
	arena_free(a);
}

static void test_refusals(void)
{
	static const struct model list = { .name = "p", .override = "[1]", .kv = "" };
	static const struct model config = { .name = "q", .config = "{", .kv = "" };

	ok(!check_model(&list), "a metadata file that is no object is refused");
	ok(!check_model(&config), "an invalid config.json is refused");
}

int main(void)
{
	char command[64];

	if (!mkdtemp(root))
		return 1;
	test_models();
	test_override();
	test_odd_cards();
	test_ids();
	test_titles();
	test_labels();
	test_patterns();
	test_refusals();
	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command))
		tap_note("%s is left", root);
	return tap_done();
}
