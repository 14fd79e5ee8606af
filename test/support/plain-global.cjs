/*
 * jest's environment for Node, in a plain context: one whose global object is an object like any other. In jest's own,
 * each look-up of a global (Object, Map, Date) asks the context first, and what computes takes half as long again.
 */
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

const { createContext } = vm;

module.exports = class extends TestEnvironment {
  constructor(...given) {
    // The one way to have it make another: it makes its context itself, and sets it up.
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(...given);
    } finally {
      vm.createContext = createContext;
    }
  }
};
