#define _GNU_SOURCE
#include "client.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

// The key and the answer that RFC 6455 shows; one fixed key is enough for a generator.
static const char handshake_key[] = "dGhlIHNhbXBsZSBub25jZQ==";
static const char handshake_answer[] = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

enum { OPCODE_CONTINUATION = 0, OPCODE_TEXT = 1, OPCODE_CLOSE = 8, OPCODE_PING = 9, OPCODE_PONG = 10 };

void buffer_append(buffer *into, const void *bytes, size_t length) {
    if (into->length + length > into->capacity) {
        size_t capacity = into->capacity == 0 ? 512 : into->capacity;
        while (capacity < into->length + length) {
            capacity *= 2;
        }
        char *grown = realloc(into->bytes, capacity);
        if (grown == NULL) {
            fprintf(stderr, "loadgen: out of memory\n");
            exit(1);
        }
        into->bytes = grown;
        into->capacity = capacity;
    }
    memcpy(into->bytes + into->length, bytes, length);
    into->length += length;
}

static void buffer_drop(buffer *from, size_t count) {
    from->length -= count;
    memmove(from->bytes, from->bytes + count, from->length);
}

static void buffer_free(buffer *buffer) {
    free(buffer->bytes);
    memset(buffer, 0, sizeof *buffer);
}

bool endpoint_resolve(const char *url, endpoint *place) {
    const char *start = strncmp(url, "ws://", 5) == 0 ? url + 5 : NULL;
    const char *colon = start == NULL ? NULL : strrchr(start, ':');
    if (colon == NULL || colon - start >= 256) {
        fprintf(stderr, "loadgen: --url must look like ws://127.0.0.1:4750\n");
        return false;
    }
    char host[256];
    memcpy(host, start, (size_t)(colon - start));
    host[colon - start] = '\0';
    char port[16];
    snprintf(port, sizeof port, "%.*s", (int)strcspn(colon + 1, "/"), colon + 1);
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;
    int failure = getaddrinfo(host, port, &hints, &found);
    if (failure != 0) {
        fprintf(stderr, "loadgen: %s: %s\n", host, gai_strerror(failure));
        return false;
    }
    memcpy(&place->address, found->ai_addr, found->ai_addrlen);
    place->address_length = found->ai_addrlen;
    freeaddrinfo(found);
    snprintf(place->authority, sizeof place->authority, "%s:%s", host, port);
    return true;
}

static int connect_blocking(const endpoint *place) {
    int descriptor = socket(place->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        perror("loadgen: socket");
        return -1;
    }
    int on = 1;
    struct timeval patience = { .tv_sec = 10, .tv_usec = 0 };
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(descriptor, (const struct sockaddr *)&place->address, place->address_length) != 0) {
        perror("loadgen: connect");
        close(descriptor);
        return -1;
    }
    return descriptor;
}

static bool write_all(int descriptor, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = send(descriptor, bytes, length, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        bytes += count;
        length -= (size_t)count;
    }
    return true;
}

/// Reads until the header's end is in `into`; gives the length of the header with its blank line, or 0.
static size_t read_header(int descriptor, buffer *into) {
    for (;;) {
        char *end = into->length == 0 ? NULL : memmem(into->bytes, into->length, "\r\n\r\n", 4);
        if (end != NULL) {
            return (size_t)(end - into->bytes) + 4;
        }
        char piece[2048];
        ssize_t count = recv(descriptor, piece, sizeof piece, 0);
        if (count <= 0 || into->length > 65536) {
            return 0;
        }
        buffer_append(into, piece, (size_t)count);
    }
}

static int status_of(const buffer *answer) {
    int status = -1;
    char line[64];
    size_t length = answer->length < sizeof line - 1 ? answer->length : sizeof line - 1;
    memcpy(line, answer->bytes, length);
    line[length] = '\0';
    return sscanf(line, "HTTP/1.1 %d", &status) == 1 ? status : -1;
}

int http_post(const endpoint *place, const char *path, const char *operator_token, const char *body, buffer *answer) {
    int descriptor = connect_blocking(place);
    if (descriptor < 0) {
        return -1;
    }
    char request[2048];
    int length = snprintf(
        request, sizeof request,
        "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n%s%s%sConnection: close\r\n\r\n%s", path,
        place->authority, strlen(body), operator_token == NULL ? "" : "Authorization: Bearer ", operator_token == NULL ? "" : operator_token,
        operator_token == NULL ? "" : "\r\n", body);
    buffer received = { 0 };
    int status = -1;
    if (length > 0 && (size_t)length < sizeof request && write_all(descriptor, request, (size_t)length)) {
        size_t header = read_header(descriptor, &received);
        if (header > 0) {
            status = status_of(&received);
            char piece[4096];
            ssize_t count;
            while ((count = recv(descriptor, piece, sizeof piece, 0)) > 0) {
                buffer_append(&received, piece, (size_t)count);
            }
            buffer_append(answer, received.bytes + header, received.length - header);
        }
    }
    buffer_free(&received);
    close(descriptor);
    return status;
}

bool client_open(client *connection, const endpoint *place) {
    memset(connection, 0, sizeof *connection);
    connection->socket = connect_blocking(place);
    if (connection->socket < 0) {
        return false;
    }
    char request[1024];
    int length = snprintf(
        request, sizeof request,
        "GET /v1/socket HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Protocol: activityhost.v1\r\n\r\n",
        place->authority, handshake_key);
    size_t header = write_all(connection->socket, request, (size_t)length) ? read_header(connection->socket, &connection->received) : 0;
    if (header == 0 || status_of(&connection->received) != 101 ||
        memmem(connection->received.bytes, header, handshake_answer, strlen(handshake_answer)) == NULL) {
        fprintf(stderr, "loadgen: the upgrade was refused: %.*s\n", (int)strcspn(header == 0 ? "" : connection->received.bytes, "\r"),
            header == 0 ? "no answer" : connection->received.bytes);
        client_close(connection);
        return false;
    }
    buffer_drop(&connection->received, header);
    return true;
}

bool client_flush(client *connection) {
    while (connection->unsent.length > 0) {
        ssize_t count = send(connection->socket, connection->unsent.bytes, connection->unsent.length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
        buffer_drop(&connection->unsent, (size_t)count);
    }
    return true;
}

static bool send_frame(client *connection, int opcode, const char *payload, size_t length) {
    // The mask is there for proxies; the same one each time does for a generator on a loopback.
    static const unsigned char mask[4] = { 0x1f, 0x8b, 0x3c, 0xa5 };
    unsigned char header[14];
    size_t header_length = 2;
    header[0] = (unsigned char)(0x80 | opcode);
    if (length < 126) {
        header[1] = (unsigned char)(0x80 | length);
    } else if (length < 65536) {
        header[1] = 0x80 | 126;
        header[2] = (unsigned char)(length >> 8);
        header[3] = (unsigned char)length;
        header_length = 4;
    } else {
        header[1] = 0x80 | 127;
        for (int index = 0; index < 8; index++) {
            header[2 + index] = (unsigned char)((uint64_t)length >> (56 - 8 * index));
        }
        header_length = 10;
    }
    memcpy(header + header_length, mask, 4);
    buffer_append(&connection->unsent, header, header_length + 4);
    size_t start = connection->unsent.length;
    if (length > 0) {
        buffer_append(&connection->unsent, payload, length);
    }
    for (size_t index = 0; index < length; index++) {
        connection->unsent.bytes[start + index] = (char)(connection->unsent.bytes[start + index] ^ mask[index & 3]);
    }
    return client_flush(connection);
}

bool client_send(client *connection, const char *text, size_t length) {
    return send_frame(connection, OPCODE_TEXT, text, length);
}

/// Handles one frame. False when the peer broke the protocol.
static bool take_frame(
    client *connection, unsigned char first, char *payload, size_t length, void (*take)(void *context, span message), void *context) {
    switch (first & 0x0f) {
    case OPCODE_TEXT:
        if ((first & 0x80) != 0) {
            take(context, (span){ .start = payload, .length = length });
            return true;
        }
        connection->fragments.length = 0;
        buffer_append(&connection->fragments, payload, length);
        return true;
    case OPCODE_CONTINUATION:
        buffer_append(&connection->fragments, payload, length);
        if ((first & 0x80) != 0) {
            take(context, (span){ .start = connection->fragments.bytes, .length = connection->fragments.length });
            connection->fragments.length = 0;
        }
        return true;
    case OPCODE_PING:
        return send_frame(connection, OPCODE_PONG, payload, length);
    case OPCODE_PONG:
        return true;
    case OPCODE_CLOSE:
        connection->close_code = length < 2 ? 1005 : ((unsigned char)payload[0] << 8) | (unsigned char)payload[1];
        return true;
    default:
        return false;
    }
}

client_status client_receive(client *connection, void (*take)(void *context, span message), void *context) {
    bool ended = false;
    char piece[65536];
    // One read a turn keeps the turns short; epoll is level-triggered and comes back for the rest.
    ssize_t count = recv(connection->socket, piece, sizeof piece, MSG_DONTWAIT);
    if (count > 0) {
        buffer_append(&connection->received, piece, (size_t)count);
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        ended = true;
    }
    size_t at = 0;
    for (;;) {
        const unsigned char *bytes = (const unsigned char *)connection->received.bytes + at;
        size_t available = connection->received.length - at;
        if (available < 2) {
            break;
        }
        size_t length = bytes[1] & 0x7f;
        size_t header = length == 126 ? 4 : length == 127 ? 10 : 2;
        if (available < header) {
            break;
        }
        if (header > 2) {
            length = 0;
            for (size_t index = 2; index < header; index++) {
                length = length << 8 | bytes[index];
            }
        }
        if ((bytes[1] & 0x80) != 0 || (bytes[0] & 0x70) != 0) {
            return CLIENT_BROKEN;
        }
        if (available - header < length) {
            break;
        }
        if (!take_frame(connection, bytes[0], connection->received.bytes + at + header, length, take, context)) {
            return CLIENT_BROKEN;
        }
        at += header + length;
    }
    if (at > 0) {
        buffer_drop(&connection->received, at);
    }
    return ended || connection->close_code != 0 ? CLIENT_CLOSED : CLIENT_OPEN;
}

void client_close(client *connection) {
    if (connection->socket >= 0) {
        close(connection->socket);
    }
    connection->socket = -1;
    buffer_free(&connection->received);
    buffer_free(&connection->unsent);
    buffer_free(&connection->fragments);
}
