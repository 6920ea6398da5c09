#!/bin/bash
#: call 2 1
export MS_WORKER_NUM=$1
export MS_SERVER_NUM=$2
export MS_SCHED_HOST=127.0.0.1
export MS_SCHED_PORT=8081
export MODE=ps
export MS_ROLE=MS_SCHED
rm -rf ./sched
mkdir ./sched
cd ./sched || exit
python ../train.py --device_num=1 > sched.log 2>&1 &
cd ..
export MS_ROLE=MS_PSERVER
for((i=0;i<$MS_SERVER_NUM;i++));
do
  rm -rf ./server_$i
  mkdir ./server_$i
  cd ./server_$i || exit
  python ../train.py --device_num=1 --server=$i > server.log 2>&1 &
  cd ..
done
export MS_ROLE=MS_WORKER
for((i=0;i<$MS_WORKER_NUM;i++));
do
  export DEVICE_ID=$i
  rm -rf ./worker_$i
  mkdir ./worker_$i
  cd ./worker_$i || exit
  python ../train.py --device_num=$MS_WORKER_NUM > worker.log 2>&1 &
  cd ..
done
