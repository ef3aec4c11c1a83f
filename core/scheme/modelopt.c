/*
 * ModelOpt (hf_quant_config.json or quantization_config): FP8 with a scale a tensor or row. What NVFP4 leaves of a
 * mixed checkpoint comes here too.
 */
#include "core/scheme/parts.h"

#include <string.h>

int scheme_modelopt(struct job *j)
{
	job_for(j, name, t) {
		const char *weight_name;
		const struct tensor *weight;
		bool fp8;

		if (!str_ends(name, ".weight_scale"))
			continue;
		weight_name = job_name(j, name, strlen("_scale"), "");
		weight = weight_name ? set_get(j->set, weight_name) : NULL;
		job_remove(j, name);
		if (!weight)
			continue;
		fp8 = weight->dtype == DT_F8_E4M3 || weight->dtype == DT_F8_E5M2;
		if (job_put(j, weight_name, t_scaled(j->b, weight, t, 0, NULL)) || (fp8 && job_q8(j, weight_name)))
			return j->err->code;
	}
	job_drop_unused(j, ".input_scale .k_scale .v_scale");
	return j->err->code;
}
