# SPDX-License-Identifier: Apache-2.0
# A SLURM of our own, sourced: munge, a controller and two nodes on this machine, all under $cluster, by Debian's slurm-wlm and
# munge. Needs root. Nothing outside of the folder is written, and ports are our own.
#     cluster_start; cluster_stop; cluster_controller_stop; cluster_controller_start; cluster_node_kill N; cluster_node_start N
cluster=${cluster:?}
base_port=$((20000 + RANDOM % 20000))

cluster_missing() { # what is not there, or nothing
    local program
    for program in munged slurmctld slurmd sbatch squeue scancel scontrol; do
        PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null || echo -n "$program "
    done
    [ "$(id -u)" -eq 0 ] || echo -n "root "
}

cluster_config() {
    local host
    host=$(hostname -s)
    mkdir -p "$cluster"/{state,spool1,spool2,log,run}
    chmod 755 "$cluster" "$cluster"/*
    cat >"$cluster/slurm.conf" <<END
ClusterName=skitter
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/run/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0,sched_min_interval=0,bf_yield_interval=500000
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool%n
SlurmctldPidFile=$cluster/run/slurmctld.pid
SlurmdPidFile=$cluster/run/slurmd.%n.pid
SlurmctldLogFile=$cluster/log/slurmctld.log
SlurmdLogFile=$cluster/log/slurmd.%n.log
SlurmctldPort=$base_port
SlurmctldTimeout=10
SlurmdTimeout=10
MinJobAge=20
KillWait=5
ReturnToService=2
BatchStartTimeout=10
UnkillableStepTimeout=30
TreeWidth=2
NodeName=node1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base_port + 1)) CPUs=1 RealMemory=200
NodeName=node2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base_port + 2)) CPUs=1 RealMemory=200
PartitionName=main Nodes=node1,node2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
END
    printf 'CgroupAutomount=no\n' >"$cluster/cgroup.conf"
    export SLURM_CONF=$cluster/slurm.conf PATH=$PATH:/usr/sbin:/sbin
}

cluster_controller_start() {
    slurmctld -D -f "$cluster/slurm.conf" >>"$cluster/log/slurmctld.out" 2>&1 &
    controller=$!
}
cluster_controller_stop() {
    kill "$controller" 2>/dev/null
    wait "$controller" 2>/dev/null
}
cluster_node_start() { # 1 or 2
    slurmd -D -N "node$1" -f "$cluster/slurm.conf" >>"$cluster/log/slurmd.node$1.out" 2>&1 &
    nodes[$1]=$!
}
# As if the machine were gone: the daemon, and what it had started.
cluster_node_kill() {
    local pid
    kill -9 "${nodes[$1]}" 2>/dev/null
    wait "${nodes[$1]}" 2>/dev/null
    for pid in $(pgrep -f "slurmstepd.*node$1|slurmstepd: \[" 2>/dev/null); do
        grep -qz "SLURM_CONF=$cluster/slurm.conf" "/proc/$pid/environ" 2>/dev/null || continue
        cluster_end_tree "$pid" "node$1"
    done
}
cluster_end_tree() { # pid, node: a step of this node, and all below it
    local child
    for child in $(pgrep -P "$1" 2>/dev/null); do
        grep -qz "SLURMD_NODENAME=$2" "/proc/$child/environ" 2>/dev/null || continue
        for deep in $(pgrep -P "$child" 2>/dev/null); do kill -9 "$deep" 2>/dev/null; done
        kill -9 "$child" 2>/dev/null
        kill -9 "$1" 2>/dev/null
    done
}

cluster_start() {
    declare -gA nodes
    cluster_config
    dd if=/dev/urandom of="$cluster/run/munge.key" bs=128 count=1 2>/dev/null
    chmod 400 "$cluster/run/munge.key"
    munged --foreground --force --key-file="$cluster/run/munge.key" --socket="$cluster/run/munge.socket" --pid-file="$cluster/run/munged.pid" \
        --seed-file="$cluster/run/munge.seed" --log-file="$cluster/log/munged.log" --num-threads=2 >>"$cluster/log/munged.out" 2>&1 &
    munge=$!
    for _ in $(seq 50); do [ -S "$cluster/run/munge.socket" ] && break || sleep 0.1; done
    cluster_controller_start
    cluster_node_start 1
    cluster_node_start 2
    for _ in $(seq 100); do
        [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && return 0
        sleep 0.3
    done
    echo "SLURM does not come up:" >&2
    tail -n 5 "$cluster"/log/* >&2
    return 1
}

cluster_stop() {
    local n
    scancel -u root 2>/dev/null
    for n in 1 2; do
        [ -n "${nodes[$n]:-}" ] && cluster_node_kill "$n"
    done
    [ -n "${controller:-}" ] && kill -9 "$controller" 2>/dev/null
    [ -n "${munge:-}" ] && kill "$munge" 2>/dev/null
    wait 2>/dev/null
}
