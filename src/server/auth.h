/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_AUTH_H
#define SK_SERVER_AUTH_H

#include "server/http.h"

#include <pthread.h>

/* Who may ask. A page in a browser carries the token in a cookie that only this server's own pages send along; programs
 * carry it in "Authorization: Bearer". Pages of strangers in the same browser are told apart by Host (a name that was made
 * to point here), Origin and Sec-Fetch-Site, and cannot set the header that every changing request needs. */

#define SK_AUTH_TOKEN  65 /* 64 letters and a zero */
#define SK_AUTH_HEADER "X-Skitter"

typedef struct sk_auth {
    char token[SK_AUTH_TOKEN];
    char cookie[32]; /* its name, with the port: browsers share cookies between ports */
    char host[256];  /* that the server was told to listen at */
    bool loopback;   /* … and it is this machine alone */
    bool tls;
    int port;
    bool has_password;
    uint8_t password[32]; /* its hash */
    uint8_t key[32];      /* of hashes, of this process alone */
    pthread_mutex_t lock; /* over the next two */
    double failures;      /* wrong tokens and passwords, fading */
    int64_t at_ns;
} sk_auth;

typedef enum sk_admission {
    SK_ADMIT_IN = 0,
    SK_ADMIT_NO_TOKEN,   /* 401 */
    SK_ADMIT_STRANGER,   /* 403: another site's page asks */
    SK_ADMIT_WRONG_HOST, /* 421: by a name that is not this server's */
    SK_ADMIT_TOO_OFTEN   /* 429: too many wrong tokens */
} sk_admission;

/* `password` null: none. Ended by sk_auth_close. */
sk_status sk_auth_open(sk_auth *auth, const char *host, bool loopback, bool tls, const char *password,
                       sk_error *err) SK_MUST_CHECK;
void sk_auth_set_port(sk_auth *auth, int port);
void sk_auth_close(sk_auth *auth);

/* `changes`: the request changes something, so that a cookie alone is not enough. */
sk_admission sk_auth_judge(sk_auth *auth, const sk_request *request, bool changes);
/* The same without a token: is it our own page, or nobody's, that asks? For the door itself. */
sk_admission sk_auth_judge_place(const sk_auth *auth, const sk_request *request);
/* Compared in a time that does not tell how much of it was right; a wrong one is counted. */
sk_admission sk_auth_try_token(sk_auth *auth, const char *token, size_t length);
sk_admission sk_auth_try_password(sk_auth *auth, const char *password);

/* The refusal in words, as a reply. */
void sk_auth_refuse(const sk_auth *auth, sk_admission verdict, sk_reply *reply);
/* Lets the browser in: the cookie, and on to the clean address. */
void sk_auth_admit(const sk_auth *auth, sk_reply *reply);

#endif
