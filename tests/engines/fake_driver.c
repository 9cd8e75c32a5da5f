/* SPDX-License-Identifier: Apache-2.0 */
/* A library of the driver's name: whoever asks whether there is one, in a process that has loaded this, hears yes. */
int cuDriverGetVersion(int *version);
int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}
