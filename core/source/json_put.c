/* Mutation of JSON trees: what merging configs needs. */
#include "core/source/json.h"

#include <string.h>

json *json_object(void)
{
	return cJSON_CreateObject();
}

bool json_add_owned(json *obj, const char *key, json *value)
{
	if (value && cJSON_AddItemToObject(obj, key, value))
		return true;
	cJSON_Delete(value);
	return false;
}

bool json_put_owned(json *obj, const char *key, json *value)
{
	json *old = (json *)(uintptr_t)json_get(obj, key);

	if (!value)
		return false;
	if (!old)
		return json_add_owned(obj, key, value);
	if (value->string && !(value->type & cJSON_StringIsConst))
		cJSON_free(value->string);
	/* The name moves over, so that the replacement cannot fail. */
	value->string = old->string;
	value->type = (value->type & ~cJSON_StringIsConst) | (old->type & cJSON_StringIsConst);
	old->string = NULL;
	old->type &= ~cJSON_StringIsConst;
	cJSON_ReplaceItemViaPointer(obj, old, value);
	return true;
}

json *json_array(void)
{
	return cJSON_CreateArray();
}

static json *new_int(int64_t v)
{
	json *j = cJSON_CreateNumber(0);

	if (j)
		json_set_int(j, v);
	return j;
}

static json *new_num(double v)
{
	json *j = cJSON_CreateNumber(0);

	if (j)
		j->valuedouble = v;
	return j;
}

static bool append_owned(json *array, json *value)
{
	if (value && cJSON_AddItemToArray(array, value))
		return true;
	cJSON_Delete(value);
	return false;
}

bool json_append(json *array, const json *value)
{
	return append_owned(array, cJSON_Duplicate(value, true));
}

bool json_append_int(json *array, int64_t v)
{
	return append_owned(array, new_int(v));
}

bool json_append_num(json *array, double v)
{
	return append_owned(array, new_num(v));
}

bool json_append_str(json *array, const char *v)
{
	return append_owned(array, cJSON_CreateString(v));
}

bool json_put(json *obj, const char *key, const json *value)
{
	return json_put_owned(obj, key, cJSON_Duplicate(value, true));
}

bool json_put_int(json *obj, const char *key, int64_t v)
{
	return json_put_owned(obj, key, new_int(v));
}

bool json_put_num(json *obj, const char *key, double v)
{
	return json_put_owned(obj, key, new_num(v));
}

bool json_put_str(json *obj, const char *key, const char *v)
{
	return json_put_owned(obj, key, cJSON_CreateString(v));
}

bool json_put_bool(json *obj, const char *key, bool v)
{
	return json_put_owned(obj, key, cJSON_CreateBool(v));
}

bool json_put_null(json *obj, const char *key)
{
	return json_put_owned(obj, key, cJSON_CreateNull());
}

void json_drop(json *obj, const char *key)
{
	json *m = (json *)(uintptr_t)json_get(obj, key);

	if (m)
		cJSON_Delete(cJSON_DetachItemViaPointer(obj, m));
}

bool json_merge(json *into, const json *from)
{
	json_for(m, from)
		if (!json_put(into, m->string, m))
			return false;
	return true;
}
