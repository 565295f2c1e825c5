/* Reads what the simulation is told to be, and which calls are told to fail. */
#define _GNU_SOURCE
#include "cann.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FAILURES = 16, MAX_NAME = 80 };

typedef struct {
    char name[MAX_NAME];
    int code;
    long first, last, calls;
} Failure;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Failure failures[MAX_FAILURES];
static int failure_count = -1; /* not read yet */

const char *sim_text(const char *variable, const char *otherwise) {
    const char *value = getenv(variable);
    return value && *value ? value : otherwise;
}

long sim_number(const char *variable, long otherwise) {
    const char *value = sim_text(variable, NULL);
    return value ? strtol(value, NULL, 10) : otherwise;
}

static void read_failures(const char *text) {
    failure_count = 0;
    char *copy = strdup(text), *rest = copy, *part;
    while ((part = strsep(&rest, ",")) && failure_count < MAX_FAILURES) {
        Failure *failure = &failures[failure_count];
        *failure = (Failure){.first = 1, .last = -1};
        char *code = strchr(part, '=');
        if (!code) {
            if (*part) fprintf(stderr, "SIM_CANN_FAIL: no code in %s\n", part);
            continue;
        }
        *code++ = '\0';
        snprintf(failure->name, MAX_NAME, "%s", part);
        failure->code = (int)strtol(code, &code, 10);
        if (*code == '@') {
            failure->first = strtol(code + 1, &code, 10);
            if (*code == '-') failure->last = strtol(code + 1, &code, 10);
        }
        failure_count++;
    }
    free(copy);
}

EXPORT void sim_cann_fail(const char *text) {
    pthread_mutex_lock(&lock);
    read_failures(text);
    pthread_mutex_unlock(&lock);
}

int sim_entered(const char *name) {
    static int tracing = -1;
    int code = ACL_SUCCESS;
    pthread_mutex_lock(&lock);
    if (failure_count < 0) read_failures(sim_text("SIM_CANN_FAIL", ""));
    if (tracing < 0) tracing = sim_number("SIM_CANN_TRACE", 0) != 0;
    for (int i = 0; i < failure_count; i++) {
        Failure *failure = &failures[i];
        if (strcmp(failure->name, name)) continue;
        failure->calls++;
        if (failure->calls >= failure->first && (failure->last < 0 || failure->calls <= failure->last))
            code = failure->code;
    }
    pthread_mutex_unlock(&lock);
    if (tracing) fprintf(stderr, "[cann] %s%s\n", name, code ? " fails" : "");
    return code;
}
