#!/bin/bash
#: call 16 0 5 data hccl.json
#: call 16 1 5 data hccl.json
if [ $# != 5 ] ; then
echo "usage"
exit 1;
fi
rm -rf run_distribute
mkdir run_distribute
cd run_distribute || exit
LIMIT=$(ulimit -n)
if [ $LIMIT -lt 2048 ] ; then
ulimit -n 2048;
fi
EPOCHS=$3
DATA=$4
export HCCL_CONNECT_TIMEOUT=600
export RANK_TABLE_FILE=$5
export RANK_SIZE=$1
export SERVER_ID=$2
export DEVICE_NUM=8
START=$((DEVICE_NUM*SERVER_ID))
for((i=0;i<DEVICE_NUM;i++))
do
    export DEVICE_ID=$i
    export RANK_ID=$((i+START))
    export GE_USE_STATIC_MEMORY=1
    mkdir helper$i
    cp -rf ../src/ ../train.py ./helper$i
    cd ./helper$i || exit
    env > env.log
    python train.py --epochs=$EPOCHS --device_id=$DEVICE_ID --log rank_${RANK_ID}_of_$RANK_SIZE --data=$DATA > log.txt 2>&1 &
    cd ../
done
if [ $LIMIT -lt 2048 ] ; then
ulimit -n $LIMIT;
fi
cd ..
