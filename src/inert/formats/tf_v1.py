def claims(source, limits):
    return None
