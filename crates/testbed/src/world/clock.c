/* Loaded before libc into a manager under test: its wall clock is off by as many seconds as a file says, at any moment, and so is, by the
   second number in there, all of its time, the monotonic clock included: as for a machine that was suspended. What it waits for in the
   kernel is not cut short: it finds out when it wakes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct moved {
    int64_t wall, all;
};

static const volatile struct moved *moved_by;

__attribute__((constructor)) static void find_file(void) {
    const char *name = getenv("FOO_MOVED_CLOCK");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    void *page = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *moved_by, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) moved_by = page;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int failed = (int)syscall(SYS_clock_gettime, clock, time);
    if (failed || !moved_by) return failed;
    if (clock == CLOCK_REALTIME) time->tv_sec += moved_by->wall + moved_by->all;
    if (clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME) time->tv_sec += moved_by->all;
    return failed;
}
