/* SPDX-License-Identifier: Apache-2.0 */
#include "server/auth.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Wrong tokens and passwords that may come at once, and how many are forgiven a second. */
#define FAILURES_MOST   10.0
#define FAILURES_FORGET 0.5

static void hash_of(const sk_auth *auth, const char *text, size_t length, uint8_t out[32])
{
    crypto_generichash(out, 32, (const unsigned char *)text, length, auth->key, sizeof auth->key);
}

sk_status sk_auth_open(sk_auth *auth, const char *host, bool loopback, bool tls, const char *password,
                       sk_error *err)
{
    uint8_t random[(SK_AUTH_TOKEN - 1) / 2];
    *auth = (sk_auth){.loopback = loopback, .tls = tls};
    if (sodium_init() < 0)
        return sk_fail(err, SK_ERR_RUNTIME, "libsodium has no random numbers on this machine");
    if (pthread_mutex_init(&auth->lock, NULL) != 0)
        return sk_fail_memory(err, sizeof auth->lock);
    snprintf(auth->host, sizeof auth->host, "%s", host);
    randombytes_buf(random, sizeof random);
    randombytes_buf(auth->key, sizeof auth->key);
    sodium_bin2hex(auth->token, sizeof auth->token, random, sizeof random);
    auth->has_password = password && password[0];
    if (auth->has_password)
        hash_of(auth, password, strlen(password), auth->password);
    return SK_OK;
}

void sk_auth_set_port(sk_auth *auth, int port)
{
    auth->port = port;
    snprintf(auth->cookie, sizeof auth->cookie, "skitter_%d", port);
}

void sk_auth_close(sk_auth *auth)
{
    pthread_mutex_destroy(&auth->lock);
    sodium_memzero(auth->token, sizeof auth->token);
}

/* --- the place that is asked, and who asks --- */

/* "name:port", "[::1]:port" or without a port; the name's length, or 0 where it is none of these or another port. */
static size_t name_of(const char *host, int port, const char **name)
{
    const bool bracket = host[0] == '[';
    const size_t length = bracket ? strcspn(host + 1, "]") : strcspn(host, ":");
    const char *rest = host + length + (bracket ? 2 : 0);
    char wanted[16];
    *name = host + bracket;
    if (bracket && host[1 + length] != ']')
        return 0;
    snprintf(wanted, sizeof wanted, ":%d", port);
    const bool usual = port == 80 || port == 443; /* browsers leave these out */
    return strcmp(rest, wanted) == 0 || (!*rest && usual) ? length : 0;
}

static bool is_address(const char *name)
{
    unsigned char bytes[16];
    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

/* A name that somebody else's DNS points here is none of ours. Addresses cannot be made to point anywhere. */
static bool is_ours(const sk_auth *auth, const char *host)
{
    static const char *const local[] = {"127.0.0.1", "localhost", "::1"};
    const char *begin;
    char name[256], machine[256] = "";
    const size_t length = host ? name_of(host, auth->port, &begin) : 0;
    if (length == 0 || length >= sizeof name)
        return false;
    memcpy(name, begin, length);
    name[length] = '\0';
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if (strcasecmp(name, local[i]) == 0)
            return true;
    if (auth->loopback)
        return false;
    if (gethostname(machine, sizeof machine - 1) != 0)
        machine[0] = '\0';
    return is_address(name) || strcasecmp(name, auth->host) == 0 ||
           (machine[0] && strcasecmp(name, machine) == 0);
}

sk_admission sk_auth_judge_place(const sk_auth *auth, const sk_request *r)
{
    const sk_request_headers *h = &r->headers;
    if (!is_ours(auth, h->host))
        return SK_ADMIT_WRONG_HOST;
    if (h->origin) {
        const char *scheme = auth->tls ? "https://" : "http://";
        const size_t n = strlen(scheme);
        if (strncmp(h->origin, scheme, n) != 0 || strcasecmp(h->origin + n, h->host) != 0)
            return SK_ADMIT_STRANGER;
    }
    return SK_ADMIT_IN;
}

/* --- secrets --- */

/* Counts one wrong attempt; too many at once are not even looked at. */
static bool is_patient(sk_auth *auth, bool failed)
{
    pthread_mutex_lock(&auth->lock);
    const int64_t now = sk_clock_ns();
    auth->failures -= (double)(now - auth->at_ns) * 1e-9 * FAILURES_FORGET;
    auth->failures = auth->failures < 0 ? 0 : auth->failures;
    auth->at_ns = now;
    const bool patient = auth->failures < FAILURES_MOST;
    if (failed && patient)
        auth->failures += 1;
    pthread_mutex_unlock(&auth->lock);
    return patient;
}

static bool is_token(const sk_auth *auth, const char *token, size_t length)
{
    uint8_t given[32], ours[32];
    hash_of(auth, token, length, given);
    hash_of(auth, auth->token, SK_AUTH_TOKEN - 1, ours);
    return sodium_memcmp(given, ours, sizeof given) == 0;
}

sk_admission sk_auth_try_token(sk_auth *auth, const char *token, size_t length)
{
    /* a right one is let in however many wrong ones came: nobody can lock a person out */
    if (is_token(auth, token, length))
        return SK_ADMIT_IN;
    return is_patient(auth, true) ? SK_ADMIT_NO_TOKEN : SK_ADMIT_TOO_OFTEN;
}

sk_admission sk_auth_try_password(sk_auth *auth, const char *password)
{
    uint8_t given[32];
    if (!auth->has_password)
        return SK_ADMIT_NO_TOKEN;
    if (!is_patient(auth, false)) /* a password may be short enough to guess */
        return SK_ADMIT_TOO_OFTEN;
    hash_of(auth, password, strlen(password), given);
    if (sodium_memcmp(given, auth->password, sizeof given) == 0)
        return SK_ADMIT_IN;
    (void)is_patient(auth, true);
    return SK_ADMIT_NO_TOKEN;
}

sk_admission sk_auth_judge(sk_auth *auth, const sk_request *r, bool changes)
{
    static const char bearer[] = "Bearer ";
    const sk_request_headers *h = &r->headers;
    const sk_admission place = sk_auth_judge_place(auth, r);
    if (place != SK_ADMIT_IN)
        return place;
    if (h->authorization) {
        const bool right_kind = strncasecmp(h->authorization, bearer, sizeof bearer - 1) == 0;
        const char *token = h->authorization + (right_kind ? sizeof bearer - 1 : 0);
        return sk_auth_try_token(auth, token, strlen(token));
    }
    size_t length = 0;
    const char *cookie = sk_request_cookie(h->cookie, auth->cookie, &length);
    if (!cookie)
        return SK_ADMIT_NO_TOKEN;
    const sk_admission token = sk_auth_try_token(auth, cookie, length);
    if (token != SK_ADMIT_IN)
        return token;
    const bool near =
        !h->fetch_site || strcmp(h->fetch_site, "same-origin") == 0 || strcmp(h->fetch_site, "none") == 0;
    return near && (!changes || h->custom) ? SK_ADMIT_IN : SK_ADMIT_STRANGER;
}

/* --- answers --- */

static const struct {
    int code;
    const char *text;
} refusals[] = {
    [SK_ADMIT_IN] = {500, "this is no refusal"},
    [SK_ADMIT_NO_TOKEN] = {401, "this needs the token of this server\nopen the link that 'skitter serve' "
                                "printed in its terminal; it ends in ?token=…"},
    [SK_ADMIT_STRANGER] = {403, "another site's page asked for this, and was refused\nchanging requests "
                                "need the header X-Skitter"},
    [SK_ADMIT_WRONG_HOST] = {421, "this server is not called so\nuse the address that 'skitter serve' "
                                  "printed"},
    [SK_ADMIT_TOO_OFTEN] = {429, "too many wrong tokens or passwords\nwait some seconds"},
};

void sk_auth_refuse(const sk_auth *auth, sk_admission verdict, sk_reply *reply)
{
    sk_error error = {.code = SK_ERR_ARG};
    (void)auth;
    snprintf(error.message, sizeof error.message, "%s", refusals[verdict].text);
    reply->code = refusals[verdict].code;
    if (verdict == SK_ADMIT_TOO_OFTEN)
        sk_reply_header_add(reply, "Retry-After", "10");
    sk_reply_error(reply, &error);
}

void sk_auth_admit(const sk_auth *auth, sk_reply *reply)
{
    char cookie[256];
    snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict%s", auth->cookie, auth->token,
             auth->tls ? "; Secure" : "");
    reply->code = 303;
    reply->bytes = "";
    reply->type = "text/plain; charset=utf-8";
    sk_reply_header_add(reply, "Set-Cookie", cookie);
    sk_reply_header_add(reply, "Location", "/");
}
