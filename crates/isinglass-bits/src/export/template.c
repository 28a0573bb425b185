/* Words of 32 spins in a row. */
#define NET_ROW(columns) (((columns) + 31) / 32)

//% bytes
void net_sums(const uint8_t image[NET_INPUTS], int32_t sums[NET_NETWORKS * NET_CLASSES]);
int net_classify(const uint8_t image[NET_INPUTS]);
//% reals
void net_sums(const float row[NET_INPUTS], int32_t sums[NET_NETWORKS * NET_CLASSES]);
int net_classify(const float row[NET_INPUTS]);

/*
 * Real numbers become bytes: 128 + t rounded to the nearest integer, ties to even, where t = (value - centre) * factor lies within -128 and 127.
 *
 * Every machine must get the same byte. A volatile float holds no more digits than a float, whatever the registers do, and keeps the compiler from
 * merging the two operations; then there are only comparisons, all of them exact. Not for -ffast-math.
 */
static uint8_t net_byte(float value, float centre, float factor)
{
    volatile float difference = value - centre;
    volatile float product = difference * factor;
    const float t = product;
    const int negative = t < 0.0f;
    const float size = negative ? -t : t;
    float middle;
    int n;
    if (t >= 127.0f) return 255;
    if (t <= -128.0f) return 0;
    if (!(size < 128.0f)) return 128; /* not a number */
    n = (int)size;
    middle = (float)n + 0.5f;
    if (size > middle || (size == middle && n % 2 == 1)) n++;
    return (uint8_t)(negative ? 128 - n : 128 + n);
}
//% all

static int32_t net_popcount(uint32_t word)
{
    word -= word >> 1 & 0x55555555u;
    word = (word & 0x33333333u) + (word >> 2 & 0x33333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0fu;
    return (int32_t)((uint32_t)(word * 0x01010101u) >> 24);
}

/* The sum of weights times bytes: twice the bytes whose weight is +1, minus all of them. */
static int32_t net_sum_of_bytes(const uint32_t *weights, const uint8_t *image, int32_t total)
{
    int32_t up = 0;
    uint32_t word = 0, i;
    for (i = 0; i < NET_INPUTS; i++) {
        word = i % 32 == 0 ? weights[i / 32] : word >> 1;
        if (word & 1) up += image[i];
    }
    return 2 * up - total;
}

/* The sum of weights times spins: those that agree, minus those that differ. */
static int32_t net_sum_of_spins(const uint32_t *weights, const uint32_t *spins, uint32_t columns)
{
    int32_t differ = 0;
    uint32_t i;
    for (i = 0; i < NET_ROW(columns); i++) differ += net_popcount(weights[i] ^ spins[i]);
    return (int32_t)columns - 2 * differ;
}

/* Neuron i of a layer; the first of a word clears it. */
static void net_set(uint32_t *spins, uint32_t i, int up)
{
    if (i % 32 == 0) spins[i / 32] = 0;
    if (up) spins[i / 32] |= (uint32_t)1 << i % 32;
}

//% bytes
void net_sums(const uint8_t image[NET_INPUTS], int32_t sums[NET_NETWORKS * NET_CLASSES])
{
//% reals
void net_sums(const float row[NET_INPUTS], int32_t sums[NET_NETWORKS * NET_CLASSES])
{
    uint8_t image[NET_INPUTS];
//% all
    uint32_t neurons[2][NET_ROW(NET_WIDEST)] = {{0}};
//% carries
    int32_t carried[NET_CARRIED] = {0};
//% all
    const uint32_t *weights = net_weights;
    const net_input_threshold *input_threshold = net_input_thresholds;
#if NET_DEPTH > 1
    const net_threshold *threshold = net_thresholds;
    uint32_t layer;
#endif
    int32_t total = 0;
    uint32_t network, i;
//% reals
    for (i = 0; i < NET_INPUTS; i++) image[i] = net_byte(row[i], net_centres[i], net_factors[i]);
//% all
    for (i = 0; i < NET_INPUTS; i++) total += image[i];
    for (network = 0; network < NET_NETWORKS; network++) {
        uint32_t *spins = neurons[0];
        uint32_t columns = net_widths[0];
        for (i = 0; i < columns; i++) {
            net_set(spins, i, net_sum_of_bytes(weights, image, total) >= *input_threshold++);
            weights += NET_ROW(NET_INPUTS);
        }
#if NET_DEPTH > 1
        for (layer = 1; layer < NET_DEPTH; layer++) {
            uint32_t *above = neurons[layer % 2];
            for (i = 0; i < net_widths[layer]; i++) {
//% plain
                net_set(above, i, net_sum_of_spins(weights, spins, columns) >= *threshold++);
//% carries
                int32_t sum = net_sum_of_spins(weights, spins, columns);
                if (net_carries[layer]) sum += carried[i];
                if (net_carries[layer + 1]) carried[i] = sum;
                net_set(above, i, sum >= *threshold++);
//% all
                weights += NET_ROW(columns);
            }
            spins = above;
            columns = net_widths[layer];
        }
#endif
        for (i = 0; i < NET_CLASSES; i++) {
            *sums++ = net_sum_of_spins(weights, spins, columns);
            weights += NET_ROW(columns);
        }
    }
}

static double net_field(int32_t sum, float bias)
{
    double field = (double)sum / NET_ROOT;
    return field + (double)bias;
}

/* The most likely class, the first of equals. */
static int net_class_of(const int32_t *sums)
{
    uint32_t i, best = 0;
#if NET_NETWORKS == 1
    double largest = net_field(sums[0], net_bias[0]);
    for (i = 1; i < NET_CLASSES; i++) {
        double field = net_field(sums[i], net_bias[i]);
        if (field > largest) {
            largest = field;
            best = i;
        }
    }
#else
    double probabilities[NET_CLASSES], shares[NET_CLASSES];
    uint32_t network;
    for (i = 0; i < NET_CLASSES; i++) probabilities[i] = 0;
    for (network = 0; network < NET_NETWORKS; network++) {
        double largest = 0, total = 0;
        for (i = 0; i < NET_CLASSES; i++) {
            shares[i] = NET_TAU * net_field(sums[network * NET_CLASSES + i], net_bias[network * NET_CLASSES + i]);
            if (i == 0 || shares[i] > largest) largest = shares[i];
        }
        for (i = 0; i < NET_CLASSES; i++) {
            shares[i] = exp(shares[i] - largest);
            total += shares[i];
        }
        for (i = 0; i < NET_CLASSES; i++) probabilities[i] += shares[i] / total;
    }
    for (i = 0; i < NET_CLASSES; i++) probabilities[i] /= (double)NET_NETWORKS;
    for (i = 1; i < NET_CLASSES; i++) {
        if (probabilities[i] > probabilities[best]) best = i;
    }
#endif
    return (int)best;
}

//% bytes
int net_classify(const uint8_t image[NET_INPUTS])
{
    int32_t sums[NET_NETWORKS * NET_CLASSES];
    net_sums(image, sums);
    return net_class_of(sums);
}
//% reals
int net_classify(const float row[NET_INPUTS])
{
    int32_t sums[NET_NETWORKS * NET_CLASSES];
    net_sums(row, sums);
    return net_class_of(sums);
}
//% all

#ifdef NET_MAIN
#include <stdio.h>
//% reals
#include <string.h>
//% all

//% bytes
/* Images in, raw bytes; a line for each out: the class, and the sums. */
int main(void)
{
    static uint8_t image[NET_INPUTS];
    static int32_t sums[NET_NETWORKS * NET_CLASSES];
    size_t length;
    while ((length = fread(image, 1, NET_INPUTS, stdin)) == NET_INPUTS) {
        uint32_t i;
        net_sums(image, sums);
//% reals
/* Rows in, little-endian float32; a line for each out: the class, and the sums. */
int main(void)
{
    static uint8_t raw[4 * NET_INPUTS];
    static float row[NET_INPUTS];
    static int32_t sums[NET_NETWORKS * NET_CLASSES];
    size_t length;
    while ((length = fread(raw, 1, sizeof raw, stdin)) == sizeof raw) {
        uint32_t i;
        for (i = 0; i < NET_INPUTS; i++) {
            const uint8_t *b = raw + 4 * i;
            uint32_t bits = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
            memcpy(row + i, &bits, sizeof bits);
        }
        net_sums(row, sums);
//% all
        printf("%d", net_class_of(sums));
        for (i = 0; i < NET_NETWORKS * NET_CLASSES; i++) printf(" %ld", (long)sums[i]);
        printf("\n");
    }
//% bytes
    if (length != 0) fprintf(stderr, "the last image is cut short\n");
//% reals
    if (length != 0) fprintf(stderr, "the last row is cut short\n");
//% all
    return length != 0 || ferror(stdin) || fflush(stdout) != 0;
}
#endif
