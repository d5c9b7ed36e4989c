"""Metadata of pipelines: one model, and services that log it, send it to Kafka, or to an AIDE server.

The names of modules and classes are those that aiSSEMBLE publishes; programs written for it run unchanged.
"""
