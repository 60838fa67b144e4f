/* Additive increase, multiplicative decrease, as a program for elephan: cc -O2 -o aimd aimd.c
 *
 * elephan writes a line of JSON for each call and reads a line of JSON as the answer. docs/programs.md has the protocol. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number behind a key, or `otherwise` if the key is not in the line or has the value null. */
static double number(const char *line, const char *key, double otherwise)
{
    char word[64], *end;
    snprintf(word, sizeof word, "\"%s\":", key);
    const char *at = strstr(line, word);
    if (at == NULL)
        return otherwise;
    at += strlen(word);
    double value = strtod(at, &end);
    return end == at ? otherwise : value;
}

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

int main(void)
{
    static char line[65536];
    double increase = 1, decrease = 0.5; /* segments a round trip; what a cut leaves of the window */
    double *cuts = NULL;                 /* of each connection */
    long connections = 0;

    while (fgets(line, sizeof line, stdin)) {
        long n = number(line, "n", 0), id = number(line, "id", 0);
        double mss = number(line, "mss", 0), cwnd = number(line, "cwnd", 0);

        if (strstr(line, "\"call\":\"hello\"")) {
            increase = number(line, "increase", increase);
            decrease = number(line, "decrease", decrease);
            printf("{\"n\":%ld,\"protocol\":1,\"calls\":[\"init\",\"on_ack\",\"on_congestion\"],\"states\":[\"cuts\"]}\n", n);
        } else if (strstr(line, "\"call\":\"init\"")) {
            for (; connections <= id; connections++) {
                cuts = realloc(cuts, (connections + 1) * sizeof *cuts);
                cuts[connections] = 0;
            }
            printf("{\"n\":%ld}\n", n);
        } else if (strstr(line, "\"call\":\"on_ack\"")) {
            if (strstr(line, "\"app_limited\":false"))
                cwnd += increase * mss * least(number(line, "acked", 0), cwnd) / cwnd;
            printf("{\"n\":%ld,\"cwnd\":%.17g}\n", n, cwnd);
        } else { /* on_congestion */
            double ssthresh = most(decrease * least(cwnd, number(line, "inflight", 0)), 2 * mss);
            cwnd = strstr(line, "\"kind\":\"rto\"") ? mss : ssthresh;
            printf("{\"n\":%ld,\"cwnd\":%.17g,\"ssthresh\":%.17g,\"cuts\":%g}\n", n, cwnd, ssthresh, ++cuts[id]);
        }
        fflush(stdout);
    }
    return 0;
}
