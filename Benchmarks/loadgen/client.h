// One client connection: HTTP requests while it is young, WebSocket frames after the upgrade.
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "json.h"

/// Where the host listens.
typedef struct {
    struct sockaddr_storage address;
    socklen_t address_length;
    char authority[300];
} endpoint;

/// A growing run of bytes.
typedef struct {
    char *bytes;
    size_t length;
    size_t capacity;
} buffer;

typedef struct client client;
struct client {
    int socket;
    buffer received;
    buffer unsent;
    buffer fragments;
    bool wants_writable;
    int close_code;
};

/// What came of reading from a connection.
typedef enum { CLIENT_OPEN, CLIENT_CLOSED, CLIENT_BROKEN } client_status;

/// Takes apart `ws://HOST:PORT` and resolves HOST. False with a line on standard error when that fails.
bool endpoint_resolve(const char *url, endpoint *place);

/// Posts a JSON body and gives the JSON answer's bytes, owned by the caller. Returns the status, or -1.
int http_post(const endpoint *place, const char *path, const char *operator_token, const char *body, buffer *answer);

/// Connects and upgrades; the socket does not block afterwards. False with a line on standard error.
bool client_open(client *connection, const endpoint *place);

/// Queues one text frame and writes what the socket takes at once. False when the connection is gone.
bool client_send(client *connection, const char *text, size_t length);

/// Writes what was left over. False when the connection is gone.
bool client_flush(client *connection);

/// Reads what is there and hands every whole text message to `take`; answers pings.
client_status client_receive(client *connection, void (*take)(void *context, span message), void *context);

void client_close(client *connection);

/// Appends to a buffer; ends the program when memory is out.
void buffer_append(buffer *into, const void *bytes, size_t length);
