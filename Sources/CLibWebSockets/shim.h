#ifndef ACTIVITYHOST_CLIBWEBSOCKETS_SHIM_H
#define ACTIVITYHOST_CLIBWEBSOCKETS_SHIM_H

#include <libwebsockets.h>
#include <sys/socket.h>
#include <uv.h>

/* Swift does not import macros that are 64-bit shifts. */
static inline uint64_t ah_lws_option_libuv(void) { return LWS_SERVER_OPTION_LIBUV; }

/* A libuv handle is "derived" from uv_handle_t by layout, which Swift's typed pointers cannot express. */
static inline uv_handle_t *ah_uv_handle(void *derived) { return (uv_handle_t *)derived; }

/* The C library declares accept4 for GNU sources only, and Swift's view of it is not one. */
extern int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
static inline int ah_accept(int descriptor, struct sockaddr *address, socklen_t *length) {
    return accept4(descriptor, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

#endif
