#!/bin/bash
#: call hccl.json data ../default_config.yaml old.ckpt
if [ $# != 3 ] && [ $# != 4 ]
then
  echo "usage"
  exit 1
fi
get_real_path() {
  if [ "${1:0:1}" == "/" ]; then
    echo "$1"
  else
    echo "$(realpath -m $PWD/$1)"
  fi
}
TABLE=$(get_real_path $1)
DATA=$(get_real_path $2)
CONFIG=$(get_real_path $3)
if [ $# == 4 ]
then
  CKPT=$(get_real_path $4)
fi
if [ ! -f $TABLE ]
then
  echo "no table"
exit 1
fi
if [ ! -d $DATA ]; then
  echo "no data"
  exit 1
fi
if [ $# == 4 ] && [ ! -f $CKPT ]
then
  exit 1
fi
ulimit -u unlimited
export DEVICE_NUM=4
export RANK_SIZE=4
export RANK_TABLE_FILE=$TABLE
export SERVER_ID=0
rank_start=$((DEVICE_NUM * SERVER_ID))
cpus=`cat /proc/cpuinfo| grep "processor"| wc -l`
avg=`expr $cpus \/ $DEVICE_NUM`
gap=`expr $avg \- 1`
for((i=0; i<${DEVICE_NUM}; i++))
do
    start=`expr $i \* $avg`
    end=`expr $start \+ $gap`
    cmdopt=$start"-"$end
    export DEVICE_ID=${i}
    export RANK_ID=$((rank_start + i))
    rm -rf ./rank_$i
    mkdir ./rank_$i
    cp ../*.py ./rank_$i
    cp -r ../src ./rank_$i
    cd ./rank_$i || exit
    env > env.log
    if [ $# == 3 ]
    then
        taskset -c $cmdopt python train.py --device_num=$RANK_SIZE --data=$DATA \
        --config=$CONFIG --out './out' &> log.txt &
    fi
    if [ $# == 4 ]
    then
        taskset -c $cmdopt python train.py --device_num=$RANK_SIZE --data=$DATA --ckpt=$CKPT \
        --config=$CONFIG --out './out' &> log.txt &
    fi
    cd ..
done
