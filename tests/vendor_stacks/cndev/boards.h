/* Where a simulated board is, and what each call passes on its way to it. */
#ifndef ACCELHAL_CNDEV_BOARDS_H
#define ACCELHAL_CNDEV_BOARDS_H

#include "../scenario.h"
#include "cndev.h"

#define API __attribute__((visibility("default")))

enum { OK = 0, BAD_VERSION = 3, NOT_STARTED = 4, BAD_ARGUMENT = 5, NO_BOARD = 6, TOO_SMALL = 9, NOT_SUPPORTED = 10, BAD_LINK = 11 };
enum { NOWHERE = -3, GROWTH = 64 };

/* ---- calls counted for the tests */

static int inside, overlaps, started, releases;
API int sim_overlaps(void) { return overlaps; }
API int sim_releases(void) { return releases; }

static int setting(const char *name, long long otherwise) { return (int)sim_number(SIM_NO_BOARD, name, otherwise); }

static int arrive(void)
{
    if (__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST))
        __atomic_fetch_add(&overlaps, 1, __ATOMIC_SEQ_CST);
    if (setting("slow_us", 0))
        usleep((unsigned)setting("slow_us", 0));
    return 0;
}
static void leave(int *unused)
{
    (void)unused;
    __atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
}

/* ---- where a board is */

#ifdef OLD_DRIVER
static int at(int handle) { return handle < 0 || handle >= sim_boards() ? NOWHERE : handle; }
enum { NEWEST = 5 };
#else
static int handle_of(int board) { return 100 + 3 * board; }
static int at(int handle) { return handle < 100 || (handle - 100) % 3 || (handle - 100) / 3 >= sim_boards() ? NOWHERE : (handle - 100) / 3; }
enum { NEWEST = 6 };
#endif

#define GATE(board) \
    int here __attribute__((cleanup(leave))) = arrive(); \
    int code = sim_gate(board, __func__); \
    (void)here; \
    if (!started) \
        return NOT_STARTED; \
    if (code) \
        return code;
#define BOARD \
    int b = at(device); \
    GATE(b) \
    if (b == NOWHERE) \
        return NO_BOARD;
/* A structure with a version is refused in one that the library does not know. */
#define CHECK(out) \
    if ((out)->version < 1 || (out)->version > setting("api", NEWEST)) \
        return BAD_VERSION;
/* Empties a structure, as long as this driver's is. */
#define CLEAR(out) (memset(out, 0, sizeof *(out)), setting("grown", 0) ? memset((char *)(out) + sizeof *(out), 0x5C, GROWTH) : out)
#define FRESH(out) CHECK(out) CLEAR(out);

#define NUMBER(name, otherwise) sim_number(b, name, otherwise)
#define TEXT(name, otherwise, out) text_of(b, name, otherwise, (char *)(out), sizeof(out))

static void text_of(int b, const char *name, const char *otherwise, char *out, size_t length)
{
    char text[96];
    sim_text(b, name, otherwise, text);
    memset(out, 0, length);
    memcpy(out, text, strlen(text) < length ? strlen(text) : length);   /* a full buffer has no NUL */
}
static void uuid_of(int b, const char *name, const char *end, u8 out[37])
{
    char otherwise[64];
    snprintf(otherwise, sizeof otherwise, "33033011-2157-0000-0000-00000000%s%02d", end, b);
    text_of(b, name, otherwise, (char *)out, 37);
}

/* A function that fills a structure in, one figure a statement; `absent` at 1 is no support. */
#define CALL(name, type, ...) \
    API int name(struct type *out, int device) { BOARD FRESH(out) __VA_ARGS__ return OK; }
#define PLAIN(name, type, ...) \
    API int name(struct type *out, int device) { BOARD CLEAR(out); __VA_ARGS__ return OK; }
#define PORT_NUMBER(name, otherwise) port_number(b, link, name, otherwise)
#define PORT \
    if (link < 0 || link >= NUMBER("ports", 6)) \
        return BAD_LINK;
#define LINK(name, type, ...) \
    API int name(struct type *out, int device, int link) { BOARD PORT FRESH(out) __VA_ARGS__ return OK; }
#define PLAIN_LINK(name, type, ...) \
    API int name(struct type *out, int device, int link) { BOARD PORT CLEAR(out); __VA_ARGS__ return OK; }

static long long port_number(int b, int link, const char *name, long long otherwise)
{
    char full[64];
    snprintf(full, sizeof full, "%s_%d", name, link);
    return sim_number(b, full, otherwise);
}

#endif
