"""A deployment in YAML, loaded and written again by the loader and dumper that are written in
Python."""

import yaml

SERVICE = """
- name: service-{n}
  image: &image{n} "registry.example/app:{n}.0"
  replicas: {n}
  ratio: 0.{n}5
  enabled: {flag}
  since: 2024-01-1{d}
  ports: [80{n}, 90{n}, {{name: admin, port: 0x1F9{d}}}]
  environment:
    MODE: production
    MESSAGE: |
      Line one of {n}
        indented line
    FOLDED: >-
      words that are
      folded into one
    EMPTY: ~
  sidecar: {{image: *image{n}, command: ['run', "--level={n}", 'it''s']}}
"""
TEXT = "".join(SERVICE.format(n=n, d=n % 9, flag="yes" if n % 2 else "off") for n in range(1, 7))


def work():
    loaded = yaml.load(TEXT, Loader=yaml.SafeLoader)
    return yaml.dump(loaded, Dumper=yaml.SafeDumper, sort_keys=True)
