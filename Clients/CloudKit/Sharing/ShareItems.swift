internal import RecordModel
internal import WireProtocol

/// The items of a request about shares: those for the server, and those with a result already.
struct ShareItems<ID: Hashable & Sendable, Question: Sendable>: Sendable {
    private(set) var ids: [ID] = []
    private(set) var questions: [Question] = []
    private var refused: [(id: ID, error: CKError)] = []

    /// Makes the items; one that is named several times is sent once.
    ///
    /// `question` returns the part of the request, or throws if there can be none.
    init(_ items: [ID], _ question: (ID) throws(CKError) -> Question) {
        var seen: Set<ID> = []
        for item in items where seen.insert(item).inserted {
            do throws(CKError) {
                self.questions.append(try question(item))
                self.ids.append(item)
            } catch {
                self.refused.append((item, error))
            }
        }
    }

    /// Returns the item of a result.
    func id(of item: Item) -> ID? {
        Int(item.index) < self.ids.count ? self.ids[Int(item.index)] : nil
    }

    /// Returns the results of the items that the client itself refuses.
    func refusals<Value: Sendable>() -> [BatchItemResult<ID, Value>] {
        self.refused.map { .value($0.id, .failure($0.error)) }
    }
}
