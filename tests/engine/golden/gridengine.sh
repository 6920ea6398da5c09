#!/bin/sh
#$ -N gpt_175b
#$ -S /bin/sh
#$ -V
#$ -r n
#$ -j y
#$ -pe mpi1 18
#$ -notify
#$ -q gpu.q
#$ -l h_rt=43200
#$ -l exclusive=true

# gpt: 16 hosts × 8 devices, 2 spares
trap '' USR2 USR1
cd '/home/ann/my jobs' || exit 3
exec /opt/muster/bin/muster run gpt.lua lr=0.1 'note=it'\''s' --spares 2 --on slurm
