package import RecordModel

/// An operator's change to the schemas of a container.
package enum SchemaChange: Hashable, Sendable {
    /// Replaces the schema of development.
    case replaceDevelopment(SchemaDocument)
    /// Replaces the schema of production by that of development.
    case deploy
    /// Replaces the schema of development by that of production, and deletes all data of
    /// development.
    case resetDevelopment
}

/// A change that the rules permit.
package struct SchemaPlan: Hashable, Sendable {
    /// The environment in which the schema changes.
    package var environment: Environment
    package var old: SchemaDocument
    package var new: SchemaDocument
    package var dropsData: Bool

    package var difference: SchemaDifference { SchemaDifference(from: self.old, to: self.new) }

    /// Types and fields that the change removes.
    ///
    /// Each requires that no record has it.
    package var losses: [SchemaLoss] {
        self.dropsData ? [] : SchemaRules.losses(from: self.old, to: self.new)
    }
}

extension SchemaRules {
    /// Plans a change from the schemas of both environments.
    ///
    /// - Throws: `contradictsProduction` if production would lose a type or a field; `beyondLimits`
    ///   if an import or a deploy would exceed a limit.
    package static func plan(
        _ change: SchemaChange,
        development: SchemaDocument,
        production: SchemaDocument
    ) throws(SchemaStoreError) -> SchemaPlan {
        let plan: SchemaPlan
        switch change {
        case .replaceDevelopment(let document):
            plan = SchemaPlan(
                environment: .development,
                old: development,
                new: self.completed(document, from: development),
                dropsData: false
            )
        case .deploy:
            plan = SchemaPlan(environment: .production, old: production, new: development, dropsData: false)
        case .resetDevelopment:
            plan = SchemaPlan(environment: .development, old: development, new: production, dropsData: true)
        }
        let losses = self.losses(from: production, to: plan.new)
        guard losses.isEmpty else { throw .contradictsProduction(losses) }
        let excesses = plan.dropsData ? [] : self.excesses(from: plan.old, to: plan.new)
        guard excesses.isEmpty else { throw .beyondLimits(excesses) }
        return plan
    }
}
