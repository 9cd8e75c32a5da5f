/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/serve_door.h"

#include <stdio.h>
#include <string.h>

#define MOST_FOLDERS 16

static const sk_operand operands[] = {{.name = "folder",
                                       .kind = SK_OPTION_FOLDER,
                                       .optional = 1,
                                       .repeat = 1,
                                       .help = "folders that the page may read and write; without any the "
                                               "current one. Nothing outside of them is touched"},
                                      {0}};

static const sk_option options[] = {
    {SK_INT("port", "N", 0, 65535), .letter = 'p', .fallback = "8765", .help = "0 takes any that is free"},
    {SK_TEXT("host", "ADDRESS"), .fallback = "127.0.0.1",
     .help = "where to listen; another machine reaches it only with its address, or 0.0.0.0, and --password"},
    {SK_FILE("password", "FILE"), .help = "its first line lets a browser in that has no link with a token"},
    {SK_FILE("certificate", "FILE"), .help = "PEM, with --key: everything is encrypted"},
    {SK_FILE("key", "FILE"), .help = "PEM, of --certificate"},
    {0}};

static const sk_example examples[] = {
    {"skitter serve", "open the link that it prints"},
    {"skitter serve videos/ models/ --port 0", "two folders, any port"},
    {"skitter serve --host 0.0.0.0 --password secret.txt --certificate cert.pem --key key.pem",
     "for other machines of the network"},
    {0}};

/* The first line of a file, as a fresh text. */
static sk_status read_password(const char *path, char **out, sk_error *err)
{
    size_t bytes = 0;
    *out = NULL;
    if (!path)
        return SK_OK;
    SK_TRY(sk_file_read(path, 65536, out, &bytes, err));
    (*out)[strcspn(*out, "\r\n")] = '\0';
    if ((*out)[0])
        return SK_OK;
    sk_free(*out);
    *out = NULL;
    return sk_fail(err, SK_ERR_ARG, "%s: its first line is empty, and that is the password", path);
}

static void serve_until_interrupted(sk_server *server)
{
    if (sk_server_notice(server)[0])
        sk_cli_warn("%s", sk_server_notice(server));
    printf("%s\n", sk_server_link(server));
    fflush(stdout);
    sk_cli_say("Open this link in a browser. Ctrl-C ends the page; runs that it started go on.");
    while (!sk_cli_interrupted())
        sk_clock_sleep_ns(50000000);
}

static sk_status run(const sk_args *args, sk_error *err)
{
    const char *folders[MOST_FOLDERS];
    char *password = NULL;
    sk_server *server = NULL;
    sk_server_settings s = {.host = sk_args_text(args, "host"),
                            .port = (int32_t)sk_args_int(args, "port"),
                            .certificate = sk_args_text(args, "certificate"),
                            .key = sk_args_text(args, "key"),
                            .folders = folders,
                            .doors = &sk_cli_serve_doors,
                            .n_folders = (int32_t)sk_args_count(args, "folder")};
    if (s.n_folders > MOST_FOLDERS)
        return sk_fail(err, SK_ERR_ARG, "at most %d folders", MOST_FOLDERS);
    for (int32_t i = 0; i < s.n_folders; i++)
        folders[i] = sk_args_at(args, "folder", (size_t)i);
    (void)sk_cli_interrupted(); /* Ctrl-C ends it in order from here on */
    SK_TRY(read_password(sk_args_text(args, "password"), &password, err));
    s.password = password;
    sk_status status = sk_server_open(&s, &server, err);
    if (status == SK_OK)
        serve_until_interrupted(server);
    sk_server_close(&server);
    sk_free(password);
    return status;
}

const sk_command sk_command_serve = {
    .name = "serve",
    .summary = "the same in a browser: choose, watch runs, look at results",
    .description = "Shows a page on this machine. The printed link holds a token, without which nobody gets "
                   "in; the page "
                   "reads and writes only in the folders named. What it starts are runs of this program, "
                   "which go on when "
                   "the page is closed or this command ends.\n\n"
                   "docs/serve.md has what it promises, docs/openapi.yaml every request for programs.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
