/* What the simulated driver libraries answer: a scenario file, read anew whenever it changes.
 *
 * SIM_SCENARIO names the file. One statement a line, '#' begins a comment; BOARD is a number or *:
 *
 *     boards 8                     how many there are (default 1, at most 64)
 *     set BOARD NAME VALUE         a figure, in the unit of the library's own call
 *     fail BOARD FUNCTION CODE     the call answers CODE; "fail * init 9" for calls of no board
 *     hang BOARD FUNCTION          the call does not return
 *
 * A later statement goes before an earlier one. `boards` may be 0. SIM_FIXED=1 reads the file once:
 * looking after it costs more than the rest of a call.
 */
#ifndef ACCELHAL_SCENARIO_H
#define ACCELHAL_SCENARIO_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIM_MAX_BOARDS 64
#define SIM_NO_BOARD (-1)
#define SIM_EVERY_BOARD (-2)

typedef struct {
    char verb;            /* s, f or h */
    int board;            /* or SIM_EVERY_BOARD */
    char name[64];
    char value[96];
} sim_statement;

static struct {
    pthread_mutex_t lock;
    struct timespec changed;
    long size;
    int boards;
    int length;
    sim_statement *statements;
} sim_state = {PTHREAD_MUTEX_INITIALIZER, {0, 0}, -1, 1, 0, NULL};

static void sim_parse(FILE *file)
{
    char line[256], verb[16], board[16];
    sim_state.boards = 1;
    sim_state.length = 0;
    while (fgets(line, sizeof line, file)) {
        sim_statement read = {0};
        int fields;
        line[strcspn(line, "#\n")] = 0;
        if (sscanf(line, " boards %d", &sim_state.boards) == 1)
            continue;
        fields = sscanf(line, " %15s %15s %63s %95[^\n]", verb, board, read.name, read.value);
        if (fields < 3)
            continue;
        read.verb = verb[0];
        read.board = strcmp(board, "*") ? atoi(board) : SIM_EVERY_BOARD;
        sim_state.statements = realloc(sim_state.statements,
                                       (size_t)(sim_state.length + 1) * sizeof read);
        sim_state.statements[sim_state.length++] = read;
    }
}

/* The lock is held when it returns. */
static void sim_refresh(void)
{
    const char *path = getenv("SIM_SCENARIO");
    struct stat now;
    FILE *file;
    pthread_mutex_lock(&sim_state.lock);
    if (!path || (sim_state.size >= 0 && getenv("SIM_FIXED")) || stat(path, &now))
        return;
    if (now.st_size == sim_state.size && now.st_mtim.tv_sec == sim_state.changed.tv_sec &&
        now.st_mtim.tv_nsec == sim_state.changed.tv_nsec)
        return;
    if (!(file = fopen(path, "r")))
        return;
    sim_parse(file);
    fclose(file);
    sim_state.size = now.st_size;
    sim_state.changed = now.st_mtim;
}

/* Copies the value of the last statement that fits into `out`; whether there is one. */
static int sim_find(char verb, int board, const char *name, char out[96])
{
    int found = 0;
    sim_refresh();
    for (int n = sim_state.length - 1; n >= 0 && !found; n--) {
        const sim_statement *s = &sim_state.statements[n];
        found = s->verb == verb && !strcmp(s->name, name) &&
                (s->board == board || s->board == SIM_EVERY_BOARD);
        if (found)
            strcpy(out, s->value);
    }
    pthread_mutex_unlock(&sim_state.lock);
    return found;
}

static inline int sim_boards(void)
{
    int boards;
    sim_refresh();
    boards = sim_state.boards;
    pthread_mutex_unlock(&sim_state.lock);
    return boards < 0 ? 0 : boards > SIM_MAX_BOARDS ? SIM_MAX_BOARDS : boards;
}

/* A figure; numbers may be given in hexadecimal. */
static inline long long sim_number(int board, const char *name, long long otherwise)
{
    char text[96];
    return sim_find('s', board, name, text) ? (long long)strtoull(text, NULL, 0) : otherwise;
}

/* A text, copied into `out`. */
static inline const char *sim_text(int board, const char *name, const char *otherwise, char out[96])
{
    if (!sim_find('s', board, name, out))
        snprintf(out, 96, "%s", otherwise);
    return out;
}

/* The code that a call must answer, 0 where it goes on; never returns where the call hangs. */
static inline int sim_gate(int board, const char *function)
{
    char text[96];
    if (sim_find('h', board, function, text))
        for (;;)
            pause();
    return sim_find('f', board, function, text) ? atoi(text) : 0;
}

#endif
