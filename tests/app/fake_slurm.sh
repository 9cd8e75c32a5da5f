#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A stand-in for SLURM's programs, by the name it is called by (links: sbatch, squeue, sacct, scancel, scontrol). Tasks run at once
# and in order of the array, in the background; $FAKE_SLURM holds the jobs. Files in there make it misbehave:
#     down        nobody answers                     lose      the numbers of tasks of the first job that vanish: NODE_FAIL
#     deaf        sbatch takes the job, and dies before it answers       account    there is an accounting
set -u
name=$(basename "$0")
home=${FAKE_SLURM:?}
all="$*"
echo "$name $*" >>"$home/calls"
if [ -e "$home/down" ] && [ "$name" != scontrol ]; then
    echo "$name: error: Unable to contact slurm controller (connect failure)" >&2
    exit 1
fi
case $name in
scontrol) echo "MaxArraySize            = 1001" ;;
sbatch)
    for word in "$@"; do
        case $word in
        --array=*) last=${word#--array=0-} && last=${last%%%*} ;;
        --job-name=*) called=${word#--job-name=} ;;
        esac
    done
    script=${!#}
    id=$(($(cat "$home/last" 2>/dev/null || echo 100) + 1))
    echo $id >"$home/last"
    echo "$called" >"$home/$id.name"
    for task in $(seq 0 "${last:-0}"); do echo "PENDING" >"$home/${id}_$task"; done
    (
        trap '' HUP
        for task in $(seq 0 "${last:-0}"); do
            [ "$(cat "$home/${id}_$task")" = PENDING ] || continue
            if [ $id -eq 101 ] && grep -qw "$task" "$home/lose" 2>/dev/null; then
                echo "NODE_FAIL node9" >"$home/${id}_$task"
                continue
            fi
            echo "RUNNING node1" >"$home/${id}_$task"
            SLURM_ARRAY_JOB_ID=$id SLURM_ARRAY_TASK_ID=$task bash "$script" >"$home/${id}_$task.log" 2>&1 &&
                echo "COMPLETED node1" >"$home/${id}_$task" || echo "FAILED node1" >"$home/${id}_$task"
        done
    ) </dev/null >/dev/null 2>&1 &
    if [ -e "$home/deaf" ]; then
        rm "$home/deaf"
        echo "sbatch: error: killed" >&2
        exit 1
    fi
    echo $id
    ;;
squeue)
    case "$*" in
    *--name=*)
        called=${all#*--name=} && called=${called%% *}
        for file in "$home"/*.name; do [ "$(cat "$file")" = "$called" ] && basename "$file" .name; done
        ;;
    *)
        id=${all#*-j } && id=${id%% *}
        [ -e "$home/$id.name" ] || { echo "slurm_load_jobs error: Invalid job id specified" >&2 && exit 1; }
        for file in "$home/${id}"_*; do
            case $file in *.log) ;; *) echo "$(basename "$file") $(cat "$file")" ;; esac
        done
        ;;
    esac
    exit 0
    ;;
sacct)
    [ -e "$home/account" ] || { echo "Slurm accounting storage is disabled" >&2 && exit 1; }
    id=${all#*-j } && id=${id%% *}
    for file in "$home/${id}"_*; do
        case $file in *.log) ;; *) echo "$(basename "$file")|$(sed 's/ /|/' "$file")" ;; esac
    done
    ;;
scancel)
    for file in "$home/$1"_*; do
        case $file in *.log) ;; *) grep -q PENDING "$file" && echo "CANCELLED" >"$file" ;; esac
    done
    ;;
esac
exit 0
