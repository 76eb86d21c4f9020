/// The order in which records are sent that do not fit into one request: what is needed first.
struct DependencyOrder {
    /// Returns the items so that each comes behind those that it needs.
    ///
    /// Items that do not need each other keep their order. In a circle, the first of it is first.
    static func sorted<Item: Hashable>(_ items: [Item], needs: [Item: [Item]]) -> [Item] {
        let present = Set(items)
        var begun: Set<Item> = []
        var order: [Item] = []
        order.reserveCapacity(items.count)
        // The items on the way from one to what it needs, each with the next need to look at.
        var path: [(item: Item, next: Int)] = []
        for item in items where begun.insert(item).inserted {
            path.append((item, 0))
            while let last = path.last {
                let itemNeeds = needs[last.item] ?? []
                guard last.next < itemNeeds.count else {
                    order.append(last.item)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let need = itemNeeds[last.next]
                if present.contains(need), begun.insert(need).inserted { path.append((need, 0)) }
            }
        }
        return order
    }
}
