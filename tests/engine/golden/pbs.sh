#!/bin/sh
#PBS -N gpt_175b
#PBS -r n
#PBS -l select=18:ncpus=64:ngpus=8:mem=256gb
#PBS -l place=scatter:excl
#PBS -q gpu
#PBS -l walltime=12:00:00
#PBS -W group_list=physics

# gpt: 16 hosts × 8 devices, 2 spares
cd '/home/ann/my jobs' || exit 3
exec /opt/muster/bin/muster run gpt.lua lr=0.1 'note=it'\''s' --spares 2 --on slurm
