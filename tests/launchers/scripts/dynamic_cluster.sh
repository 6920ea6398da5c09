#!/bin/bash
#: call
for((i=0;i<4;i++));
do
    export MS_WORKER_NUM=4
    export MS_SCHED_HOST=127.0.0.1
    export MS_SCHED_PORT=8118
    export MS_ROLE=MS_WORKER
    export MS_NODE_ID=$i
    python ./net.py > device/worker_$i.log 2>&1 &
done
export MS_ROLE=MS_SCHED
python ./net.py > device/scheduler.log 2>&1 &
