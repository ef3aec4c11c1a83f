/*
 * How far blocks of standard input shrink by LZ4: pack [BLOCK_BYTES] prints "<blocks> <blocks that shrink to three
 * quarters> <packed bytes / bytes>". What the second tier of the cache gains (core/cache/packed.h).
 */
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int size = argc > 1 ? atoi(argv[1]) : 256 << 10, n, packed;
	unsigned long long blocks = 0, good = 0, in = 0, out = 0;
	char *raw, *to;

	if (size < 1 || size > LZ4_MAX_INPUT_SIZE)
		return 2;
	raw = malloc((size_t)size);
	to = malloc((size_t)LZ4_compressBound(size));
	while (raw && to && (n = (int)fread(raw, 1, (size_t)size, stdin)) > 0) {
		packed = LZ4_compress_default(raw, to, n, LZ4_compressBound(size));
		blocks++;
		good += (unsigned long long)packed * 4 <= (unsigned long long)n * 3;
		in += (unsigned long long)n;
		out += (unsigned long long)packed;
	}
	printf("%llu %llu %.3f\n", blocks, good, in ? (double)out / (double)in : 1.0);
	free(raw);
	free(to);
	return 0;
}
