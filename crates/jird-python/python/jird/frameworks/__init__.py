"""Where jird meets web frameworks: `jird.frameworks.flask`, `.starlette` (FastAPI too) and `.django`.

Each module imports its framework. `import jird` imports none of them.
"""
