"""A network of roads in networkx: shortest paths, centrality, components, a spanning tree,
flows."""

import networkx as nx


def roads(width, height):
    graph = nx.Graph()
    for x in range(width):
        for y in range(height):
            if x + 1 < width:
                graph.add_edge((x, y), (x + 1, y), length=(x * 31 + y * 17) % 9 + 1, lanes=(x + y) % 3 + 1)
            if y + 1 < height and (x * y) % 4 != 3:
                graph.add_edge((x, y), (x, y + 1), length=(x * 13 + y * 29) % 7 + 1, lanes=x % 2 + 1)
    return graph


GRAPH = roads(11, 10)


def work():
    paths = [nx.dijkstra_path(GRAPH, (0, 0), (10, y), weight="length") for y in range(0, 10, 3)]
    star = nx.astar_path_length(GRAPH, (0, 0), (10, 9), heuristic=lambda a, b: abs(a[0] - b[0]) + abs(a[1] - b[1]), weight="length")
    central = nx.betweenness_centrality(GRAPH, k=12, seed=1, weight="length")
    tree = nx.minimum_spanning_tree(GRAPH, weight="length")
    blocks = [sorted(part) for part in nx.biconnected_components(GRAPH)]
    rank = nx.degree_centrality(tree)
    lanes = nx.maximum_flow_value(GRAPH, (0, 0), (10, 9), capacity="lanes")
    return (paths, star, max(sorted(central), key=central.get), tree.size("length"), len(blocks), sorted(map(len, blocks)),
            max(sorted(rank), key=rank.get), lanes)
