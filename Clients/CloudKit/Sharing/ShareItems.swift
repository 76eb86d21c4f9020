internal import RecordModel
internal import WireProtocol

/// The items of a request about shares: those that go to the server, and those that it need not see.
struct ShareItems<ID: Hashable & Sendable, Question: Sendable>: Sendable {
    private(set) var ids: [ID] = []
    private(set) var questions: [Question] = []
    private(set) var refused: [(id: ID, error: CKError)] = []

    /// An item that is named several times is asked once.
    ///
    /// `question` says what is asked, or why it can't be.
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

    /// The item of an answer.
    func id(of item: Item) -> ID? {
        Int(item.index) < self.ids.count ? self.ids[Int(item.index)] : nil
    }

    func answersHere<Value: Sendable>() -> [ItemAnswer<ID, Value>] {
        self.refused.map { .value($0.id, .failure($0.error)) }
    }
}

extension ItemOutcome {
    /// What is wrong with an item whose outcome is not the one that was asked for.
    func error(user: String) -> CKError {
        guard case .failure(let failure) = self else { return .answerOfAnotherKind }
        return CKError(failure, clientRecord: nil, itemID: nil, currentUser: user)
    }
}
