/* The lanes of lanes.h with NEON (AArch64): four. */
#ifndef CORE_QUANT_LANES_NEON_H
#define CORE_QUANT_LANES_NEON_H

#include "core/quant/kernels.h"

#include <arm_neon.h>

#define LANES 4
#define TIER(name) name##_neon

typedef float32x4_t vf;
typedef int32x4_t vi;
typedef uint32x4_t vm; /* all ones or all zeros */

#define v_set vdupq_n_f32
#define v_load vld1q_f32
#define v_store vst1q_f32
#define v_add vaddq_f32
#define v_sub vsubq_f32
#define v_mul vmulq_f32
#define v_div vdivq_f32
#define v_sqrt vsqrtq_f32
#define v_abs vabsq_f32
#define v_negate vnegq_f32
#define v_round vrndnq_f32 /* to nearest, ties to even */
#define v_int vcvtnq_s32_f32 /* exact for whole numbers below 2^31 */
#define v_truncate vcvtq_s32_f32 /* toward zero, below 2^31 */
#define v_bits vreinterpretq_s32_f32
#define v_of_bits vreinterpretq_f32_s32
#define v_of_int vcvtq_f32_s32
#define v_gt vcgtq_f32
#define v_lt vcltq_f32
#define v_eq vceqq_f32
#define v_differ(a, b) vmvnq_u32(vceqq_f32(a, b))
#define v_not_gt(a, b) vmvnq_u32(vcgtq_f32(a, b))
#define v_not_lt(a, b) vmvnq_u32(vcltq_f32(a, b))
#define v_not_ge(a, b) vmvnq_u32(vcgeq_f32(a, b))
#define v_greatest vmaxvq_f32
#define v_least vminvq_f32
#define i_set vdupq_n_s32
#define i_load vld1q_s32
#define i_store vst1q_s32
#define i_add vaddq_s32
#define i_sub vsubq_s32
#define i_and vandq_s32
#define i_or vorrq_s32
#define i_min vminq_s32
#define i_max vmaxq_s32
#define i_srl(v, n) vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_s32(v), n))
#define i_sll(v, n) vshlq_n_s32(v, n)
#define i_eq vceqq_s32
#define i_gt vcgtq_s32
#define i_greatest vmaxvq_s32
#define m_and vandq_u32
#define m_or vorrq_u32
#define m_without vbicq_u32 /* a and not b */

static inline vf v_zero(void)
{
	return vdupq_n_f32(0);
}

static inline vm m_none(void)
{
	return vdupq_n_u32(0);
}

static inline vf v_select(vm mask, vf yes, vf no)
{
	return vbslq_f32(mask, yes, no);
}

/* Not the instructions: they order zeros by sign and hand NaNs on. */
static inline vf v_min(vf a, vf b)
{
	return vbslq_f32(vcltq_f32(a, b), a, b);
}

static inline vf v_max(vf a, vf b)
{
	return vbslq_f32(vcgtq_f32(a, b), a, b);
}

static inline vi i_select(vm mask, vi yes, vi no)
{
	return vbslq_s32(mask, yes, no);
}

static inline vi i_keep(vm mask, vi v)
{
	return vandq_s32(v, vreinterpretq_s32_u32(mask));
}

static inline vi i_clear(vm mask, vi v)
{
	return vbicq_s32(v, vreinterpretq_s32_u32(mask));
}

/* v where the mask holds, elsewhere 0. */
static inline vf v_keep(vm mask, vf v)
{
	return v_of_bits(i_keep(mask, v_bits(v)));
}

/* 0 where the mask holds, elsewhere v. */
static inline vf v_clear(vm mask, vf v)
{
	return v_of_bits(i_clear(mask, v_bits(v)));
}

/* v, and one more where the mask holds. */
static inline vi i_count(vi v, vm mask)
{
	return vsubq_s32(v, vreinterpretq_s32_u32(mask));
}

/* Bit k: lane k. */
static inline unsigned m_bits(vm m)
{
	static const uint32_t bits[4] = { 1, 2, 4, 8 };

	return vaddvq_u32(vandq_u32(m, vld1q_u32(bits)));
}

static inline bool m_any(vm m)
{
	return vmaxvq_u32(m) != 0;
}

static inline bool m_all(vm m)
{
	return vminvq_u32(m) != 0;
}

/* Tables of 8 and 16 floats, looked up by index lanes in that range. */
typedef uint8x16x2_t v_table8;
typedef uint8x16x4_t v_table16;

static inline v_table8 v_load_table8(const float p[8])
{
	v_table8 t;

	for (int i = 0; i < 2; i++)
		t.val[i] = vreinterpretq_u8_f32(v_load(p + 4 * i));
	return t;
}

static inline v_table16 v_load_table16(const float p[16])
{
	v_table16 t;

	for (int i = 0; i < 4; i++)
		t.val[i] = vreinterpretq_u8_f32(v_load(p + 4 * i));
	return t;
}

/* Places of the four bytes of each float looked up. */
static inline uint8x16_t table_bytes(vi index)
{
	return vreinterpretq_u8_s32(vmlaq_s32(i_set(0x03020100), index, i_set(0x04040404)));
}

static inline vf v_lookup8(v_table8 t, vi index)
{
	return vreinterpretq_f32_u8(vqtbl2q_u8(t, table_bytes(index)));
}

static inline vf v_lookup16(v_table16 t, vi index)
{
	return vreinterpretq_f32_u8(vqtbl4q_u8(t, table_bytes(index)));
}

/* binary16 of a float that is no NaN. */
static inline uint16_t half(float f)
{
	return vget_lane_u16(vreinterpret_u16_f16(vcvt_f16_f32(vdupq_n_f32(f))), 0);
}

/* r[j] lane k = r[k] lane j. */
ALWAYS_INLINE void v_transpose(vf r[4])
{
	float64x2_t a = vreinterpretq_f64_f32(vtrn1q_f32(r[0], r[1]));
	float64x2_t b = vreinterpretq_f64_f32(vtrn2q_f32(r[0], r[1]));
	float64x2_t c = vreinterpretq_f64_f32(vtrn1q_f32(r[2], r[3]));
	float64x2_t d = vreinterpretq_f64_f32(vtrn2q_f32(r[2], r[3]));

	r[0] = vreinterpretq_f32_f64(vtrn1q_f64(a, c));
	r[1] = vreinterpretq_f32_f64(vtrn1q_f64(b, d));
	r[2] = vreinterpretq_f32_f64(vtrn2q_f64(a, c));
	r[3] = vreinterpretq_f32_f64(vtrn2q_f64(b, d));
}

/* 16 ints of 8 bits' range -> bytes. */
static inline void store_bytes16(const vi v[16 / LANES], uint8_t *out)
{
	int16x8_t a = vcombine_s16(vmovn_s32(v[0]), vmovn_s32(v[1]));
	int16x8_t b = vcombine_s16(vmovn_s32(v[2]), vmovn_s32(v[3]));

	vst1q_u8(out, vreinterpretq_u8_s8(vcombine_s8(vmovn_s16(a), vmovn_s16(b))));
}

/* Bit k: value k is at least 0. */
static inline void store_signs128(const float *x, uint8_t out[16])
{
	for (int j = 0; j < 16; j++) {
		unsigned low = m_bits(vcgezq_f32(v_load(x + 8 * j))), high = m_bits(vcgezq_f32(v_load(x + 8 * j + 4)));

		out[j] = (uint8_t)(low | high << 4);
	}
}

/* Bit 4 of each byte. */
static inline void store_fifth_bits(const uint8_t q[32], uint8_t qh[4])
{
	static const int8_t shifts[8] = { -4, -3, -2, -1, 0, 1, 2, 3 };
	int8x8_t shift = vld1_s8(shifts);

	for (int j = 0; j < 4; j++)
		qh[j] = vaddv_u8(vshl_u8(vand_u8(vld1_u8(q + 8 * j), vdup_n_u8(16)), shift));
}

static inline vf v_load_half(const uint16_t *p)
{
	return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}

static inline void v_store_half(uint16_t *p, vf v)
{
	vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(v)));
}

static inline vi i_load_u16(const uint16_t *p)
{
	return vreinterpretq_s32_u32(vmovl_u16(vld1_u16(p)));
}

/* The low halves of a and b. */
static inline void i_store_u16(uint16_t *p, vi a, vi b)
{
	vst1q_u16(p, vcombine_u16(vmovn_u32(vreinterpretq_u32_s32(a)), vmovn_u32(vreinterpretq_u32_s32(b))));
}

#endif
