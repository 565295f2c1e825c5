/* Where a simulated chip is, and what each call passes on its way to it. */
#ifndef ACCELHAL_DCMI_BOARDS_H
#define ACCELHAL_DCMI_BOARDS_H

#include "../scenario.h"
#include "dcmi.h"

#define API __attribute__((visibility("default")))

enum { OK = 0, PARAMETER = -8001, TIMEOUT = -8006, NO_DEVICE = -8008, NOT_READY = -8012, NOT_SUPPORTED = -8255 };
enum { MCU = -3, NOWHERE = -4, GROWTH = 64 };

/* ---- calls counted for the tests: those that overlapped another, and those that block */

static int inside, overlaps, blocking, started;
API int sim_overlaps(void) { return overlaps; }
API int sim_blocking_calls(void) { return blocking; }

static int arrive(void)
{
    int others = __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
    if (others)
        __atomic_fetch_add(&overlaps, 1, __ATOMIC_SEQ_CST);
    if (sim_number(SIM_NO_BOARD, "slow_us", 0))
        usleep((unsigned)sim_number(SIM_NO_BOARD, "slow_us", 0));
    return 0;
}
static void leave(int *unused)
{
    (void)unused;
    __atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
}

/* ---- where a board is */

static int setting(const char *name, int otherwise) { return (int)sim_number(SIM_NO_BOARD, name, otherwise); }
static int chips(void) { return setting("chips", 1); }
static int cards(void) { return (sim_boards() + chips() - 1) / chips(); }
static int card_number(int n) { return setting("first_card", 0) + 2 * n; }

static int at(int card, int chip)
{
    int n = (card - setting("first_card", 0)) / 2;
    if (card < 0 || n >= cards() || card_number(n) != card || chip < 0 || chip > chips())
        return NOWHERE;
    return chip == chips() ? MCU : n * chips() + chip;
}
#ifndef OLD_DRIVER
static int at_v2(int id)
{
    int b = (id - setting("first_card", 0)) / 2;
    return id < 0 || b >= sim_boards() || card_number(b) != id ? NOWHERE : b;
}
#endif

#define GATE(board, generation) \
    int here __attribute__((cleanup(leave))) = arrive(); \
    int code = sim_gate(board, __func__); \
    (void)here; \
    if (code) \
        return code; \
    if (setting("v2", 0) != generation) \
        return NOT_SUPPORTED; \
    if (!started) \
        return NOT_READY;
#define BOARD(b, generation) \
    GATE(b, generation) \
    if (b == NOWHERE) \
        return NO_DEVICE; \
    if (b == MCU) \
        return NOT_SUPPORTED;
#define UNWRAP(...) __VA_ARGS__
#define V1(name, params, ...) \
    API int dcmi_##name(int card, int chip, UNWRAP params) { int b = at(card, chip); BOARD(b, 0) __VA_ARGS__ }
#ifdef OLD_DRIVER
#define V2(name, params, ...)
#else
#define V2(name, params, ...) \
    API int dcmiv2_##name(int id, UNWRAP params) { int b = at_v2(id); BOARD(b, 1) __VA_ARGS__ }
#endif
#define BOTH(name, params, ...) V1(name, params, __VA_ARGS__) V2(name, params, __VA_ARGS__)

#define NUMBER(name, otherwise) sim_number(b, name, otherwise)
#define TEXT(name, otherwise, out) text_of(b, name, otherwise, (char *)(out), sizeof(out))
/* Empties a structure, as long as this driver's is. */
#define CLEAR(out) (memset(out, 0, sizeof *(out)), setting("grown", 0) ? memset((char *)(out) + sizeof *(out), 0xA5, GROWTH) : out)

static void text_of(int b, const char *name, const char *otherwise, char *out, size_t length)
{
    char text[96];
    sim_text(b, name, otherwise, text);
    memset(out, 0, length);
    memcpy(out, text, strlen(text) < length ? strlen(text) : length);   /* a full buffer has no NUL */
}
static int natural(int b, const char *name, long long otherwise, void *out)
{
    long long value = NUMBER(name, otherwise);
    if (value == -1)
        return NOT_SUPPORTED;
    *(u32 *)out = (u32)value;
    return OK;
}

#endif
