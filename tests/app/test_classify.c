/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "base/file.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* A checkpoint that classifies, used as people do: classes with probabilities in every format that can hold them. */

static int skitter(const char *arguments)
{
    char command[9000];
    snprintf(command, sizeof command, "%s %s >/dev/null 2>%s/said", getenv("SKITTER_TEST_BINARY"), arguments,
             test_folder());
    int code = system(command);
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

static char *contents(const char *name)
{
    char path[4400], *text;
    size_t length;
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    assert_ok(sk_file_read(path, 1 << 20, &text, &length, &err), &err);
    return text;
}

static void classes_of_pictures(void **state)
{
    (void)state;
    if (!getenv("SKITTER_TEST_BINARY"))
        skip();
    char arguments[8400], picture[4400];
    const char *model = yolo_save(&(yolo_fixture){.head = "Classify", .imgsz = 32}, "cls.pt");
    snprintf(picture, sizeof picture, "%s/p.png", test_folder());
    png_image image = {.version = PNG_IMAGE_VERSION, .width = 50, .height = 40, .format = PNG_FORMAT_RGB};
    uint8_t pixels[50 * 40 * 3];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 7);
    assert_true(png_image_write_to_file(&image, picture, 0, pixels, 0, NULL));
    snprintf(arguments, sizeof arguments, "predict %s -m %s -o %s/out --format csv,jsonl,labels -r cpu",
             picture, model, test_folder());
    int code = skitter(arguments);
    char *said = contents("said");
    if (code != 0)
        fail_msg("%s", said);
    sk_free(said);
    char *csv = contents("out/results.csv");
    assert_non_null(strstr(csv, "source,frame,time,instance,track,class,name,score\n"));
    double first = -1, second = -1;
    char *row = strstr(csv, ",0,,"), *next = strstr(csv, ",1,,");
    assert_non_null(row);
    assert_non_null(next);
    assert_int_equal(sscanf(row, ",0,,%*d,%*[^,],%lf", &first), 1);
    assert_int_equal(sscanf(next, ",1,,%*d,%*[^,],%lf", &second), 1);
    assert_true(first >= second && first + second > 0.9999 &&
                first + second < 1.0001); /* two classes are all */
    sk_free(csv);
    char *labels = contents("out/labels/p.txt"), wanted[16];
    snprintf(wanted, sizeof wanted, "%.2f ", first);
    assert_memory_equal(labels, wanted, strlen(wanted));
    sk_free(labels);
    char *lines = contents("out/results.jsonl");
    assert_non_null(strstr(lines, "\"score\":"));
    sk_free(lines);
    snprintf(arguments, sizeof arguments, "predict %s -m %s -o %s/slp --format slp -r cpu", picture, model,
             test_folder());
    assert_int_equal(skitter(arguments), 2);
    said = contents("said");
    assert_non_null(strstr(said, "csv, jsonl"));
    sk_free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(classes_of_pictures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
